#include "verify/parity_case.h"

#include <algorithm>
#include <cstddef>
#include <random>

namespace sampan::verify {
namespace {

/// Draws token ids that are neither padding nor the end of a sentence, the same in each run.
class Tokens {
 public:
  Tokens(std::int64_t vocab_size, const checkpoint::ModelConfig& config)
      : vocab_size_(static_cast<std::uint32_t>(vocab_size)), config_(config) {}

  std::int64_t next() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const auto token = static_cast<std::int64_t>(generator_() % vocab_size_);
      if (token != config_.pad_token_id &&
          std::ranges::find(config_.eos_token_id, token) == config_.eos_token_id.end())
        return token;
    }
    return 0;
  }
  std::vector<std::int64_t> next(std::size_t count) {
    std::vector<std::int64_t> tokens(count);
    for (std::int64_t& token : tokens) token = next();
    return tokens;
  }

 private:
  std::uint32_t vocab_size_;
  const checkpoint::ModelConfig& config_;
  std::minstd_rand generator_{20};
};

class CaseMaker {
 public:
  explicit CaseMaker(const checkpoint::ModelConfig& config)
      : config_(config),
        source_tokens_(config.vocab_size, config),
        target_tokens_(config.decoder_vocab_size, config) {}

  /// `lengths` are the tokens of each step.
  ParityCase make(std::string name, decode::SourceBatch sources,
                  const std::vector<std::size_t>& lengths) {
    ParityCase result;
    result.name = std::move(name);
    for (const std::size_t length : lengths) {
      auto& step = result.steps.emplace_back();
      for (std::size_t row = 0; row < sources.size(); ++row) {
        step.push_back(target_tokens_.next(length));
        if (result.steps.size() == 1) step.back().front() = config_.decoder_start_token_id;
      }
    }
    result.sources = std::move(sources);
    return result;
  }

  std::vector<std::int64_t> source(std::size_t length) {
    std::vector<std::int64_t> ids = source_tokens_.next(length - 1);
    ids.push_back(config_.eos_token_id.empty() ? ids.front() : config_.eos_token_id.front());
    return ids;
  }

 private:
  const checkpoint::ModelConfig& config_;
  Tokens source_tokens_;
  Tokens target_tokens_;
};

/// Up to four texts of lengths that differ, the shortest first.
decode::SourceBatch texts_of_all_lengths(std::span<const std::vector<std::int64_t>> texts) {
  decode::SourceBatch sorted(texts.begin(), texts.end());
  std::ranges::stable_sort(sorted, {}, &std::vector<std::int64_t>::size);
  decode::SourceBatch chosen;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& text = sorted[i * (sorted.size() - 1) / 3];
    if (chosen.empty() || chosen.back().size() != text.size()) chosen.push_back(text);
  }
  return chosen;
}

}  // namespace

std::vector<ParityCase> parity_cases(const checkpoint::ModelConfig& config,
                                     std::span<const std::vector<std::int64_t>> texts,
                                     const ParityCaseOptions& options) {
  const auto positions = static_cast<std::size_t>(config.max_position_embeddings);
  const std::size_t wide = std::min<std::size_t>(13, positions);
  const std::size_t several = std::min<std::size_t>(5, positions / 2);
  CaseMaker maker(config);
  std::vector<ParityCase> cases;
  cases.push_back(maker.make("padded real text", texts_of_all_lengths(texts), {1, 1, 1, 1}));
  cases.push_back(maker.make("several tokens at once",
                             {maker.source(wide), maker.source(std::min<std::size_t>(5, wide))},
                             {several, options.chunks ? several - 1 : 1}));
  cases.push_back(maker.make("one source token", {{maker.source(2).back()}}, {1, 1, 1}));
  decode::SourceBatch uneven = {{maker.source(2).back()}};
  for (std::size_t row = 1; row < 7; ++row) uneven.push_back(maker.source(wide - row % 3));
  cases.push_back(maker.make("one token beside many", std::move(uneven), {2, 1}));
  if (options.longest)
    cases.push_back(
        maker.make("the longest position", {maker.source(positions)}, {positions - 1, 1}));
  return cases;
}

}  // namespace sampan::verify
