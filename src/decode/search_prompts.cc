#include "decode/search_prompts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"

namespace sampan::decode {
namespace {

std::int64_t max_length_of(const SearchInput& input, const GenerationConfig& config,
                           std::int64_t prompt_length) {
  if (input.max_length) return *input.max_length;
  if (config.max_new_tokens) return prompt_length + *config.max_new_tokens;
  return config.max_length;
}

Prompt prompt_of(const StepModel& model, const SearchInput& input, const GenerationConfig& config) {
  Prompt prompt;
  prompt.tokens.reserve(input.prefix.size() + 1);
  prompt.tokens.push_back(config.decoder_start_token_id);
  for (const std::int64_t token : input.prefix) {
    if (token < 0 || token >= model.vocab_size()) {
      base::fail(ErrorCode::kInvalidArgument,
                 "target prefix: token {} is outside the model's vocabulary of {} entries; use the "
                 "target's own tokenizer",
                 token, model.vocab_size());
    }
    prompt.tokens.push_back(token);
  }
  const std::int64_t length = static_cast<std::int64_t>(prompt.tokens.size());
  prompt.max_length = std::min(max_length_of(input, config, length), model.max_positions());
  if (prompt.max_length <= length) {
    base::fail(ErrorCode::kInvalidArgument,
               "max_length: {} tokens leave no room behind the decoder start token and a prefix of "
               "{}; raise the length or shorten the prefix",
               prompt.max_length, input.prefix.size());
  }
  return prompt;
}

}  // namespace

std::vector<Prompt> prompts_of(const StepModel& model, std::span<const SearchInput> inputs,
                               const GenerationConfig& config) {
  std::vector<Prompt> prompts;
  prompts.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t length = inputs[i].source.size();
    if (length == 0 || length > static_cast<std::size_t>(model.max_positions())) {
      base::fail(ErrorCode::kInvalidArgument,
                 "sentence {}: {} source tokens where the model takes 1 to {}; split the sentence",
                 i, length, model.max_positions());
    }
    prompts.push_back(prompt_of(model, inputs[i], config));
  }
  return prompts;
}

void require_valid(const GenerationConfig& config) {
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) {
    base::fail(ErrorCode::kInvalidArgument, "generation options: {}", fmt::join(problems, "; "));
  }
}

void check_control(const SearchControl& control) {
  if (control.stop.stop_requested()) {
    base::fail(ErrorCode::kCancelled, "the translation was cancelled");
  }
  if (control.deadline && std::chrono::steady_clock::now() >= *control.deadline) {
    base::fail(ErrorCode::kDeadlineExceeded,
               "the translation's deadline passed; allow more time or shorten the text");
  }
}

void require_logits(const StepModel& model, std::size_t logits, std::size_t tokens) {
  const std::size_t expected = tokens * static_cast<std::size_t>(model.vocab_size());
  if (logits != expected) {
    base::fail(ErrorCode::kInternal,
               "the model returned {} logits for {} tokens where {} were expected; check that its "
               "graphs fit its vocabulary",
               logits, tokens, expected);
  }
}

}  // namespace sampan::decode
