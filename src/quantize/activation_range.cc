#include "quantize/activation_range.h"

#include <algorithm>
#include <cmath>

namespace sampan::quantize {

ActivationScale scale_of(const ActivationRange& range) noexcept {
  constexpr float kSteps = 255.0f;
  const float low = std::min(range.low, 0.0f);
  const float scale = (std::max(range.high, 0.0f) - low) / kSteps;
  if (!(scale > 0.0f)) return {};
  // The middle of a symmetric range lies between two steps: rounding errors do not choose one.
  if (range.high == -low) return {scale, 128};
  const float zero = std::clamp(std::nearbyint(-low / scale), 0.0f, kSteps);
  return {scale, static_cast<std::uint8_t>(zero)};
}

}  // namespace sampan::quantize
