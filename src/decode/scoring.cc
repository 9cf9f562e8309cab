#include "decode/scoring.h"

#include <algorithm>

#include "base/fail.h"
#include "decode/logits_processors.h"
#include "decode/search_prompts.h"

namespace sampan::decode {
namespace {

/// Most logits asked of the model at once: 64 MB.
constexpr std::size_t kMostLogits = 16U << 20U;

void require_target(const StepModel& model, std::span<const std::int64_t> target,
                    std::size_t prompt_length, std::size_t number) {
  for (const std::int64_t token : target) {
    if (token < 0 || token >= model.vocab_size()) {
      base::fail(ErrorCode::kInvalidArgument,
                 "target {}: token {} is outside the model's vocabulary of {} entries; use the "
                 "target's own tokenizer",
                 number, token, model.vocab_size());
    }
  }
  const std::size_t fed = prompt_length + target.size() - 1;
  if (target.empty() || fed > static_cast<std::size_t>(model.max_positions())) {
    base::fail(ErrorCode::kInvalidArgument,
               "target {}: {} tokens behind a prompt of {} where the model has {} positions; split "
               "the sentence",
               number, target.size(), prompt_length, model.max_positions());
  }
}

/// A target with its prompt before it.
struct GivenTarget {
  std::vector<std::int64_t> tokens;
  std::size_t prompt_length = 1;
};

std::vector<GivenTarget> given_targets(const StepModel& model, std::span<const SearchInput> inputs,
                                       std::span<const std::vector<std::int64_t>> targets,
                                       const GenerationConfig& config) {
  if (targets.size() != inputs.size()) {
    base::fail(ErrorCode::kInvalidArgument, "{} targets were given for {} sources; give one each",
               targets.size(), inputs.size());
  }
  GenerationConfig unlimited = config;
  unlimited.max_length = model.max_positions();
  unlimited.max_new_tokens.reset();
  std::vector<SearchInput> free(inputs.begin(), inputs.end());
  for (SearchInput& input : free) input.max_length.reset();
  std::vector<Prompt> prompts = prompts_of(model, free, unlimited);
  std::vector<GivenTarget> result;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::size_t prompt_length = prompts[i].tokens.size();
    require_target(model, targets[i], prompt_length, i);
    result.push_back({std::move(prompts[i].tokens), prompt_length});
    result.back().tokens.insert(result.back().tokens.end(), targets[i].begin(), targets[i].end());
  }
  return result;
}

/// Tokens [begin, begin + length) of each row, shorter rows filled up: what follows a target's end
/// cannot reach back to its own positions.
std::vector<std::int64_t> tokens_to_feed(std::span<const GivenTarget> rows, std::size_t begin,
                                         std::size_t length, std::int64_t filler) {
  std::vector<std::int64_t> tokens(rows.size() * length, filler);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& from = rows[row].tokens;
    for (std::size_t i = 0; i < length && begin + i < from.size(); ++i) {
      tokens[row * length + i] = from[begin + i];
    }
  }
  return tokens;
}

}  // namespace

std::vector<std::vector<float>> score_targets(StepModel& model, std::span<const SearchInput> inputs,
                                              std::span<const std::vector<std::int64_t>> targets,
                                              const GenerationConfig& config,
                                              const SearchControl& control) {
  require_valid(config);
  std::vector<std::vector<float>> scores(inputs.size());
  const std::vector<GivenTarget> rows = given_targets(model, inputs, targets, config);
  if (rows.empty()) return scores;
  LogitsProcessors processors(config, model.vocab_size());
  SourceBatch sources;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sources.push_back(inputs[i].source);
    longest = std::max(longest, rows[i].tokens.size());
  }
  model.start(sources);
  const std::size_t vocab_size = static_cast<std::size_t>(model.vocab_size());
  const std::size_t chunk = std::max<std::size_t>(1, kMostLogits / (rows.size() * vocab_size));
  for (std::size_t begin = 0; begin + 1 < longest; begin += chunk) {
    check_control(control);
    const std::size_t length = std::min(chunk, longest - 1 - begin);
    const std::vector<std::int64_t> tokens =
        tokens_to_feed(rows, begin, length, config.pad_token_id);
    const std::span<float> logits = model.step(tokens, static_cast<std::int64_t>(length));
    require_logits(model, logits.size(), tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const GivenTarget& row = rows[i / length];
      const std::size_t predicted = begin + i % length + 1;
      if (predicted < row.prompt_length || predicted >= row.tokens.size()) continue;
      const std::span<float> at = logits.subspan(i * vocab_size, vocab_size);
      const Normalizer normalizer = processors.mask_forbidden(at);
      const auto token = static_cast<std::size_t>(row.tokens[predicted]);
      scores[i / length].push_back(normalizer.log_prob(at[token]));
    }
  }
  return scores;
}

}  // namespace sampan::decode
