#pragma once

#include <cstdint>
#include <span>

namespace sampan::decode {

/// The longest target that a source sentence of so many tokens (end of sentence included) deserves,
/// counted as GenerationConfig.max_length is: 2.5 x source + 16, rounded down. A target that gets
/// there almost always repeats itself.
constexpr std::int64_t guarded_max_length(std::int64_t source_tokens) noexcept {
  return source_tokens * 5 / 2 + 16;
}

/// True if a unit of one or more tokens stands four times or more in a row: "a a a a", or
/// "a b c a b c a b c a b c". Text may do so for good reason (a row of digits or exclamation
/// marks): where the source repeats a unit as well, a target that does is no fault. Time: the
/// square of the number of tokens at worst, a few hundred in practice.
bool repeats_unit(std::span<const std::int64_t> tokens) noexcept;

}  // namespace sampan::decode
