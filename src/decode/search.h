#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "decode/step_model.h"
#include "sampan/generation.h"

namespace sampan::decode {

/// Why a target ended.
enum class FinishReason {
  kEndOfSentence,
  kLength,  ///< reached its maximum length (a forced end of sentence included)
};

/// One finished target.
struct Hypothesis {
  /// Generated ids with the end of sentence, without decoder start token and forced prefix.
  std::vector<std::int64_t> tokens;
  /// log-probability of each generated token, after the constraints.
  std::vector<float> log_probs;
  /// Sum of `log_probs` / tokens.size()^length_penalty; natural logarithm.
  double score = 0.0;
  FinishReason finish_reason = FinishReason::kEndOfSentence;
  /// Smallest gap, over the steps of the whole search of this sentence, between the last candidate
  /// taken and the first one left; below 1e-4 another runtime may choose otherwise.
  double smallest_margin = 0.0;
};

/// One sentence to translate.
struct SearchInput {
  std::vector<std::int64_t> source;  ///< source ids with end of sentence
  std::vector<std::int64_t> prefix;  ///< target ids forced after the decoder start token
  /// Most tokens of the target, counted as GenerationConfig.max_length is; overrides it when set.
  std::optional<std::int64_t> max_length;
};

/// What a caller may say while a search runs.
struct SearchControl {
  /// Polled between steps; a stop throws `Error` kCancelled.
  std::stop_token stop;
  /// Checked between steps; passing it throws `Error` kDeadlineExceeded.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Called for each new token of a greedy or sampled target, in order; empty: not called.
  std::function<void(std::size_t sentence, std::int64_t token)> on_token;
};

/// Translates a batch: result [sentence][hypothesis], best first, num_return_sequences each.
/// Throws `Error`: kInvalidArgument (config.validate()), kCancelled, kDeadlineExceeded, and whatever
/// the model throws.
std::vector<std::vector<Hypothesis>> search(StepModel& model, std::span<const SearchInput> inputs,
                                            const GenerationConfig& config,
                                            const SearchControl& control = {});

}  // namespace sampan::decode
