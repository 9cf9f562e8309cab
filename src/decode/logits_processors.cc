#include "decode/logits_processors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/fail.h"

namespace sampan::decode {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

void check_token(std::string_view option, std::int64_t token, std::int64_t vocab_size) {
  if (token < 0 || token >= vocab_size) {
    base::fail(
        ErrorCode::kInvalidArgument,
        "{}: token {} is outside the model's vocabulary of {} entries; correct the option or "
        "the package's generation_config.json",
        option, token, vocab_size);
  }
}

void check_tokens(const GenerationConfig& config, std::int64_t vocab_size) {
  for (const auto& sequence : config.bad_words_ids) {
    for (const std::int64_t token : sequence) check_token("bad_words_ids", token, vocab_size);
  }
  for (const std::int64_t token : config.suppress_tokens) {
    check_token("suppress_tokens", token, vocab_size);
  }
  for (const std::int64_t token : config.forced_eos_token_id) {
    check_token("forced_eos_token_id", token, vocab_size);
  }
  for (const std::int64_t token : config.eos_token_id) {
    check_token("eos_token_id", token, vocab_size);
  }
  if (config.forced_bos_token_id) {
    check_token("forced_bos_token_id", *config.forced_bos_token_id, vocab_size);
  }
  check_token("decoder_start_token_id", config.decoder_start_token_id, vocab_size);
}

void forbid_all(std::span<float> row, std::span<const std::int64_t> tokens) noexcept {
  for (const std::int64_t token : tokens) row[static_cast<std::size_t>(token)] = kForbidden;
}

std::int64_t length_of(const TargetView& target) noexcept {
  return static_cast<std::int64_t>(target.tokens.size());
}

}  // namespace

LogitsProcessors::LogitsProcessors(const GenerationConfig& config, std::int64_t vocab_size)
    : config_(config) {
  check_tokens(config, vocab_size);
  for (const auto& sequence : config.bad_words_ids) {
    if (sequence.size() > 1) {
      bad_sequences_.push_back(sequence);
    } else if (std::ranges::find(config.eos_token_id, sequence.front()) ==
               config.eos_token_id.end()) {
      bad_tokens_.push_back(sequence.front());
    }
  }
}

Normalizer LogitsProcessors::process_logits(std::span<float> row, const TargetView& target) {
  if (forces_a_token(target)) {
    force(row, target);
  } else {
    penalize_repetition(row, target, nullptr);
    forbid(row, target);
  }
  forbid_all(row, config_.suppress_tokens);
  if (config_.do_sample && config_.temperature != 1.0) {
    const float temperature = static_cast<float>(config_.temperature);
    for (float& logit : row) logit /= temperature;
  }
  return normalizer_of(row);
}

Normalizer LogitsProcessors::process_log_probs(std::span<float> row, const TargetView& target) {
  Normalizer raw;  // of a forced row: log-probability 0 stands in the row itself
  if (forces_a_token(target)) {
    force(row, target);
  } else {
    const bool penalize = config_.repetition_penalty != 1.0;
    if (penalize || !config_.renormalize_logits) raw = normalizer_of(row);
    if (penalize) penalize_repetition(row, target, &raw);
    forbid(row, target);
  }
  forbid_all(row, config_.suppress_tokens);
  const Normalizer processed = normalizer_of(row);
  return config_.renormalize_logits ? processed : raw;
}

Normalizer LogitsProcessors::mask_forbidden(std::span<float> row) {
  forbid_all(row, bad_tokens_);
  forbid_all(row, config_.suppress_tokens);
  return normalizer_of(row);
}

bool LogitsProcessors::forces_a_token(const TargetView& target) const noexcept {
  const bool first = length_of(target) == 1;
  const bool last = length_of(target) == target.max_length - 1;
  return (first && config_.forced_bos_token_id) || (last && !config_.forced_eos_token_id.empty());
}

void LogitsProcessors::force(std::span<float> row, const TargetView& target) const {
  std::ranges::fill(row, kForbidden);
  if (length_of(target) == target.max_length - 1 && !config_.forced_eos_token_id.empty()) {
    for (const std::int64_t token : config_.forced_eos_token_id) {
      row[static_cast<std::size_t>(token)] = 0.0F;
    }
  } else {
    row[static_cast<std::size_t>(*config_.forced_bos_token_id)] = 0.0F;
  }
}

void LogitsProcessors::penalize_repetition(std::span<float> row, const TargetView& target,
                                           const Normalizer* raw) {
  if (config_.repetition_penalty == 1.0) return;
  const float penalty = static_cast<float>(config_.repetition_penalty);
  // All are read before one is written: a token that appeared twice is penalised once.
  penalized_.clear();
  for (const std::int64_t token : target.tokens) {
    const float logit = row[static_cast<std::size_t>(token)];
    const float score = raw != nullptr ? raw->log_prob(logit) : logit;
    const float penalized = score < 0.0F ? score * penalty : score / penalty;
    // The row stays one of logits: the penalised log-probability is written as the logit it is of.
    penalized_.push_back(raw != nullptr ? (penalized + raw->log_sum) + raw->highest : penalized);
  }
  for (std::size_t i = 0; i < target.tokens.size(); ++i) {
    row[static_cast<std::size_t>(target.tokens[i])] = penalized_[i];
  }
}

void LogitsProcessors::forbid(std::span<float> row, const TargetView& target) const {
  if (config_.no_repeat_ngram_size > 0) forbid_repeated_ngrams(row, target.tokens);
  forbid_all(row, bad_tokens_);
  if (!bad_sequences_.empty()) forbid_bad_sequences(row, target.tokens);
  const std::int64_t least =
      config_.min_new_tokens ? *config_.min_new_tokens + target.prompt_length : config_.min_length;
  if (length_of(target) < least) forbid_all(row, config_.eos_token_id);
}

void LogitsProcessors::forbid_repeated_ngrams(std::span<float> row,
                                              std::span<const std::int64_t> tokens) const {
  const std::size_t prefix = static_cast<std::size_t>(config_.no_repeat_ngram_size) - 1;
  if (tokens.size() < prefix) return;
  const auto ending = tokens.last(prefix);
  for (std::size_t i = 0; i + prefix < tokens.size(); ++i) {
    if (std::ranges::equal(tokens.subspan(i, prefix), ending)) {
      row[static_cast<std::size_t>(tokens[i + prefix])] = kForbidden;
    }
  }
}

void LogitsProcessors::forbid_bad_sequences(std::span<float> row,
                                            std::span<const std::int64_t> tokens) const {
  for (const auto& sequence : bad_sequences_) {
    if (sequence.size() > tokens.size())
      continue;  // transformers' rule, one token late at the start
    const auto beginning = std::span(sequence).first(sequence.size() - 1);
    if (std::ranges::equal(tokens.last(beginning.size()), beginning)) {
      row[static_cast<std::size_t>(sequence.back())] = kForbidden;
    }
  }
}

Normalizer LogitsProcessors::normalizer_of(std::span<const float> row) {
  if (!maxima_.scan(row)) {
    base::fail(
        ErrorCode::kInvalidData,
        "the model's logits hold NaN or +infinity; the package is damaged or its precision is "
        "too low: verify it, or export it again");
  }
  if (maxima_.highest() == kForbidden) return {};
  return {maxima_.highest(), std::log(sum_of_exponentials(row, maxima_.highest()))};
}

}  // namespace sampan::decode
