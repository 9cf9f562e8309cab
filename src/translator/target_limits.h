#pragma once

#include <cstddef>
#include <cstdint>

#include "sampan/generation.h"

namespace sampan::translator {

/// What the longest target of a sentence depends on.
struct TargetLimitInput {
  std::size_t source_tokens = 0;   ///< end of sentence included
  std::size_t prefix_tokens = 0;   ///< forced after the decoder start token
  std::int64_t max_positions = 0;  ///< of the model
  bool length_guard = true;
};

/// Most tokens of a sentence's target, counted as GenerationConfig.max_length is: the
/// configuration's limit and the model's positions; with the guard also
/// `decode::guarded_max_length` of the source behind the prefix, but never less than the
/// configuration's minimum asks for.
std::int64_t target_limit(const GenerationConfig& config, const TargetLimitInput& input);

}  // namespace sampan::translator
