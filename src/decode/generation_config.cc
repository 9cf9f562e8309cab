#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sampan/generation.h"

namespace sampan {
namespace {

/// Bounds that keep sums of lengths and scores in range; far above what a model can use.
constexpr std::int64_t kMostRows = 1000;
constexpr std::int64_t kMostTokens = 1'000'000;
constexpr double kSteepestPenalty = 10.0;

/// Gathers what is wrong with a configuration.
class Problems {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> message, Args&&... args) {
    found_.push_back(fmt::format(message, std::forward<Args>(args)...));
  }
  void require_range(std::string_view name, std::int64_t value, std::int64_t low,
                     std::int64_t high) {
    if (value < low || value > high) add("{} is {}, it must be {} to {}", name, value, low, high);
  }
  void require_tokens(std::string_view name, const std::vector<std::int64_t>& tokens) {
    for (const std::int64_t token : tokens) {
      if (token < 0) add("{} holds {}, a token is 0 or more", name, token);
    }
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

bool contains(const std::vector<std::int64_t>& tokens, std::int64_t token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

void check_strategy(const GenerationConfig& config, Problems& problems) {
  problems.require_range("num_beams", config.num_beams, 1, kMostRows);
  problems.require_range("num_return_sequences", config.num_return_sequences, 1, kMostRows);
  if (config.do_sample && config.num_beams > 1) {
    problems.add("do_sample cannot go with num_beams {}: choose sampling or beam search",
                 config.num_beams);
  }
  if (!config.do_sample && config.num_return_sequences > config.num_beams) {
    problems.add("num_return_sequences is {}, more than num_beams {}", config.num_return_sequences,
                 config.num_beams);
  }
  if (!(std::abs(config.length_penalty) <= kSteepestPenalty)) {
    problems.add("length_penalty is {}, it must be {} to {}", config.length_penalty,
                 -kSteepestPenalty, kSteepestPenalty);
  }
}

void check_lengths(const GenerationConfig& config, Problems& problems) {
  problems.require_range("max_length", config.max_length, 2, kMostTokens);
  problems.require_range("min_length", config.min_length, 0, kMostTokens);
  if (config.max_new_tokens) {
    problems.require_range("max_new_tokens", *config.max_new_tokens, 1, kMostTokens);
  }
  if (config.min_new_tokens) {
    problems.require_range("min_new_tokens", *config.min_new_tokens, 0, kMostTokens);
  }
  const std::int64_t most = config.max_new_tokens.value_or(config.max_length - 1);
  if (config.min_new_tokens && *config.min_new_tokens > most) {
    problems.add("min_new_tokens is {}, but at most {} tokens fit", *config.min_new_tokens, most);
  }
  if (!config.min_new_tokens && !config.max_new_tokens && config.min_length > config.max_length) {
    problems.add("min_length is {}, more than max_length {}", config.min_length, config.max_length);
  }
}

void check_sampling(const GenerationConfig& config, Problems& problems) {
  if (!(config.temperature > 0.0) || !std::isfinite(config.temperature)) {
    problems.add("temperature is {}, it must be above 0", config.temperature);
  }
  problems.require_range("top_k", config.top_k, 0, kMostTokens);
  if (!(config.top_p > 0.0 && config.top_p <= 1.0)) {
    problems.add("top_p is {}, it must be above 0 and at most 1", config.top_p);
  }
}

void check_constraints(const GenerationConfig& config, Problems& problems) {
  problems.require_range("no_repeat_ngram_size", config.no_repeat_ngram_size, 0, kMostTokens);
  if (!(config.repetition_penalty > 0.0) || !std::isfinite(config.repetition_penalty)) {
    problems.add("repetition_penalty is {}, it must be above 0", config.repetition_penalty);
  }
  for (const auto& sequence : config.bad_words_ids) {
    if (sequence.empty()) problems.add("bad_words_ids holds an empty sequence");
    problems.require_tokens("bad_words_ids", sequence);
  }
  problems.require_tokens("suppress_tokens", config.suppress_tokens);
  problems.require_tokens("forced_eos_token_id", config.forced_eos_token_id);
  problems.require_tokens("eos_token_id", config.eos_token_id);
  problems.require_tokens("decoder_start_token_id", {config.decoder_start_token_id});
  problems.require_tokens("pad_token_id", {config.pad_token_id});
  if (config.forced_bos_token_id) {
    problems.require_tokens("forced_bos_token_id", {*config.forced_bos_token_id});
    if (contains(config.suppress_tokens, *config.forced_bos_token_id)) {
      problems.add("forced_bos_token_id {} is among suppress_tokens", *config.forced_bos_token_id);
    }
  }
  const auto suppressed = [&](std::int64_t token) {
    return contains(config.suppress_tokens, token);
  };
  if (!config.forced_eos_token_id.empty() &&
      std::ranges::all_of(config.forced_eos_token_id, suppressed)) {
    problems.add("forced_eos_token_id {} is among suppress_tokens",
                 config.forced_eos_token_id.front());
  }
}

}  // namespace

std::vector<std::string> GenerationConfig::validate() const {
  Problems problems;
  check_strategy(*this, problems);
  check_lengths(*this, problems);
  check_sampling(*this, problems);
  check_constraints(*this, problems);
  return problems.take();
}

}  // namespace sampan
