#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/search.h"

namespace sampan::decode {

/// Where the target of one sentence begins and how long it may become.
struct Prompt {
  std::vector<std::int64_t> tokens;  ///< decoder start token and forced prefix
  std::int64_t max_length = 0;       ///< most tokens of the target, these included
};

/// Prompts of a batch, one a sentence. Throws `Error` kInvalidArgument where a sentence is empty or
/// longer than the model's positions, a prefix leaves the vocabulary, or no token fits behind it.
std::vector<Prompt> prompts_of(const StepModel& model, std::span<const SearchInput> inputs,
                               const GenerationConfig& config);

/// Throws `Error` kInvalidArgument with every problem of `config`, if it has any.
void require_valid(const GenerationConfig& config);

/// Throws `Error` kCancelled or kDeadlineExceeded if the caller wants no more.
void check_control(const SearchControl& control);

/// Throws `Error` kInternal unless the model returned `logits` logits for `tokens` tokens.
void require_logits(const StepModel& model, std::size_t logits, std::size_t tokens);

}  // namespace sampan::decode
