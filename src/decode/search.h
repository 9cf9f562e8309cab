#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
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
  /// log-probability of each generated token, after the constraints (and what sampling leaves).
  std::vector<float> log_probs;
  /// Sum of `log_probs` / tokens.size()^length_penalty; natural logarithm.
  double score = 0.0;
  FinishReason finish_reason = FinishReason::kEndOfSentence;
  /// How near the whole search of this sentence came to another result: the smallest gap between
  /// two competitors whose order mattered, infinity if none did. Below 1e-4 another runtime, whose
  /// sums round otherwise, may choose otherwise.
  /// Greedy: the two highest logits of a step. Beam search: the last candidate that went on and the
  /// first that did not; the nearest pair across rank num_beams of which one ends; the best running
  /// and the worst finished target when they decide whether to stop; neighbours in the result. Gaps
  /// are those of sums of log-probabilities, before the length penalty.
  /// Sampling: the drawn number and the end of the token's share.
  double smallest_margin = 0.0;
};

/// One sentence to translate.
struct SearchInput {
  std::vector<std::int64_t> source;  ///< source ids with end of sentence
  std::vector<std::int64_t> prefix;  ///< target ids forced after the decoder start token
  /// Most tokens of the target, counted as GenerationConfig.max_length is; overrides it and
  /// max_new_tokens when set.
  std::optional<std::int64_t> max_length;
};

/// What a caller may say while a search runs.
struct SearchControl {
  /// Polled between steps; a stop throws `Error` kCancelled.
  std::stop_token stop;
  /// Checked between steps; passing it throws `Error` kDeadlineExceeded.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Called for each new token, end of sentence included, of a greedy target or of a sentence's
  /// first sampled one, in order; empty: not called.
  std::function<void(std::size_t sentence, std::int64_t token)> on_token;
};

/// Translates a batch: result [sentence][hypothesis], best first, num_return_sequences each; beam
/// search returns fewer where it found fewer, one at least. What a sentence becomes does not depend
/// on its neighbours, which leave the batch as they finish. A target is never longer than the
/// model's positions, whatever the maximum length says. Of candidates with the same score the one
/// of the better beam, and then the lower token, wins.
///
/// Greedy and beam search take the steps of transformers 4.57 (its vectorised beam search).
/// Sampling has a generator of its own: the same seed, source and prefix draw the same target on
/// every platform, which is not torch's.
///
/// Throws `Error`: kInvalidArgument (config.validate(); a token outside the vocabulary; an empty or
/// too long sentence; a prefix that leaves no room; constraints that forbid every token),
/// kInvalidData (NaN from the model), kInternal (a model that does not keep its contract),
/// kCancelled, kDeadlineExceeded, and whatever the model throws.
std::vector<std::vector<Hypothesis>> search(StepModel& model, std::span<const SearchInput> inputs,
                                            const GenerationConfig& config,
                                            const SearchControl& control = {});

}  // namespace sampan::decode
