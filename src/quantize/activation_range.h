#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sampan::quantize {

/// Values that an activation takes.
struct ActivationRange {
  float low = 0.0f;
  float high = 0.0f;
};

/// The range of each weight's activations, by the weight's name. A weight has one name in all
/// graphs of a package, so that all forms of a decoder round alike.
using ActivationRanges = std::map<std::string, ActivationRange, std::less<>>;

/// How a range is rounded to uint8: value = (stored - zero_point) * scale.
struct ActivationScale {
  float scale = 1.0f;
  std::uint8_t zero_point = 0;
};

/// The scale that spans a range and 0, which is stored exactly; an empty range has scale 1.
ActivationScale scale_of(const ActivationRange& range) noexcept;

}  // namespace sampan::quantize
