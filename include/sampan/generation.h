#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sampan/export.h"

namespace sampan {

/// When beam search may stop; GenerationConfig.early_stopping false, true and "never".
enum class EarlyStopping { kFalse, kTrue, kNever };

/// How the target tokens are searched. Names and meaning are those of transformers'
/// GenerationConfig (4.57); a package's generation_config.json gives the defaults.
struct SAMPAN_API GenerationConfig {
  /// Beams kept for each sentence, 1 to 1000; 1 is greedy search (or sampling, with `do_sample`).
  /// 4 is what most checkpoints were measured with; each beam costs time and memory.
  std::int64_t num_beams = 1;
  /// Hypotheses returned for each sentence, best first: at most `num_beams`, or 1000 if sampled.
  std::int64_t num_return_sequences = 1;
  /// Exponent of the generated length in a hypothesis' score (beam search): score = sum of
  /// log-probabilities / length^length_penalty, -10 to 10. Above 0 favours long, below 0 short
  /// translations.
  double length_penalty = 1.0;
  EarlyStopping early_stopping = EarlyStopping::kFalse;

  /// Most tokens of a target, the decoder start token and forced prefix included; 2 or more. The
  /// model's positions are a limit as well.
  std::int64_t max_length = 512;
  /// Most generated tokens, start token and prefix excluded; overrides `max_length` when set.
  std::optional<std::int64_t> max_new_tokens;
  /// Least tokens of a target, start token included, before end of sentence may appear; 0: none.
  std::int64_t min_length = 0;
  /// Least generated tokens before end of sentence may appear; overrides `min_length` when set.
  std::optional<std::int64_t> min_new_tokens;

  /// Draw each token from its distribution rather than take the most probable one.
  bool do_sample = false;
  /// Divides the logits before sampling; above 0, 1 leaves them alone.
  double temperature = 1.0;
  /// Sample among the k most probable tokens; 0: all.
  std::int64_t top_k = 50;
  /// Sample among the smallest set of tokens whose probability reaches this; in (0, 1], 1: all.
  double top_p = 1.0;
  /// Seed of the sampler; the same seed, text and package give the same tokens, wherever the text
  /// stands. Change it to draw another translation.
  std::uint64_t seed = 0;

  /// No n-gram of this size appears twice in a target; 0: off.
  std::int64_t no_repeat_ngram_size = 0;
  /// Logits of tokens that appeared already are divided (if positive) or multiplied (if negative)
  /// by this; above 0, 1: off. Keskar et al. 2019, CTRL, section 4.1.
  double repetition_penalty = 1.0;
  /// Token sequences that must never appear. An end of sentence alone is passed over.
  std::vector<std::vector<std::int64_t>> bad_words_ids;
  /// Tokens that must never appear.
  std::vector<std::int64_t> suppress_tokens;
  /// The first generated token is this one.
  std::optional<std::int64_t> forced_bos_token_id;
  /// When the target reaches its maximum length, its last token is this one.
  std::vector<std::int64_t> forced_eos_token_id;
  /// Normalise the log-probabilities again after the constraints above changed them.
  bool renormalize_logits = false;

  std::int64_t decoder_start_token_id = 0;
  std::int64_t pad_token_id = 0;
  /// Any of these ends a target.
  std::vector<std::int64_t> eos_token_id;

  /// Every problem of this configuration, one sentence each; empty if it can be used.
  std::vector<std::string> validate() const;
};

}  // namespace sampan
