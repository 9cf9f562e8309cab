#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/row_scan.h"
#include "sampan/generation.h"

namespace sampan::decode {

/// Turns a logit of one row into a log-probability: (x - highest) - log_sum in float32, the order
/// in which torch's log_softmax subtracts.
struct Normalizer {
  float highest = 0.0F;
  float log_sum = 0.0F;

  float log_prob(float logit) const noexcept { return (logit - highest) - log_sum; }
};

/// What the processors know of the target whose next token a row holds.
struct TargetView {
  /// Decoder start token, prefix, and the tokens generated so far.
  std::span<const std::int64_t> tokens;
  /// Tokens of these that were given: decoder start token and prefix.
  std::int64_t prompt_length = 1;
  /// Most tokens of the target, prompt included.
  std::int64_t max_length = 0;
};

/// The logits processors of transformers' `generate`, in its order: repetition_penalty,
/// no_repeat_ngram_size, bad_words_ids, min_length / min_new_tokens, forced_bos_token_id,
/// forced_eos_token_id, suppress_tokens, temperature, renormalize_logits. A token that may not
/// appear costs one write. Holds scratch space: not thread-safe.
class LogitsProcessors {
 public:
  /// `config` is valid and outlives this object. Throws `Error` kInvalidArgument if it names a
  /// token outside [0, vocab_size).
  LogitsProcessors(const GenerationConfig& config, std::int64_t vocab_size);

  /// Greedy search and sampling, where transformers processes the logits themselves. Rewrites `row`
  /// [vocab_size]; the result normalises what it became. Throws `Error` kInvalidData on NaN or
  /// +infinity.
  Normalizer process_logits(std::span<float> row, const TargetView& target);

  /// Beam search, where transformers processes log_softmax(logits): the penalty acts on
  /// log-probabilities, and without `renormalize_logits` forbidden tokens keep their share.
  Normalizer process_log_probs(std::span<float> row, const TargetView& target);

  /// For scoring a given target: only what may never appear anywhere (`bad_words_ids` of one token,
  /// `suppress_tokens`) is taken out.
  Normalizer mask_forbidden(std::span<float> row);

  /// Maxima of the row that was processed last.
  const RowMaxima& maxima() const noexcept { return maxima_; }

 private:
  bool forces_a_token(const TargetView& target) const noexcept;
  void force(std::span<float> row, const TargetView& target) const;
  void penalize_repetition(std::span<float> row, const TargetView& target, const Normalizer* raw);
  void forbid(std::span<float> row, const TargetView& target) const;
  void forbid_repeated_ngrams(std::span<float> row, std::span<const std::int64_t> tokens) const;
  void forbid_bad_sequences(std::span<float> row, std::span<const std::int64_t> tokens) const;
  Normalizer normalizer_of(std::span<const float> row);

  const GenerationConfig& config_;
  std::vector<std::int64_t> bad_tokens_;                  ///< bad words of one token, eos left out
  std::vector<std::vector<std::int64_t>> bad_sequences_;  ///< longer ones
  RowMaxima maxima_;
  std::vector<float> penalized_;
};

}  // namespace sampan::decode
