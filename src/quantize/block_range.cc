#include "quantize/block_range.h"

#include <algorithm>
#include <cmath>

namespace sampan::quantize {
namespace {

/// Candidates for the range of a 4-bit block: at 16 steps, cutting off the largest weights often
/// costs less than stretching every step.
constexpr int kRangeCandidates = 17;
constexpr float kRangeStep = 0.02f;
int highest(int bits) { return (1 << bits) - 1; }

/// Half to even, for values below 2^22: the sum has no bits for a fraction. Unlike `nearbyint`, a
/// compiler turns it into two instructions.
float round_half_even(float value) {
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23
  return (value + kNoFraction) - kNoFraction;
}

double squared_error(std::span<const float> block, const BlockRange& range, int bits) {
  double error = 0.0;
  for (const float weight : block) {
    const double difference = static_cast<double>(weight) -
                              static_cast<double>(range.weight_of(round_to(weight, range, bits)));
    error += difference * difference;
  }
  return error;
}

/// The weight furthest from zero gets the value 0, whose distance to the zero point is one step
/// longer than that of the highest value: the scale is negative where that weight is positive.
BlockRange symmetric_range(std::span<const float> block, int bits, float share) {
  const float extreme =
      *std::ranges::max_element(block, {}, [](float weight) { return std::fabs(weight); });
  return {extreme * share / static_cast<float>(-middle(bits)), middle(bits)};
}

/// From the lowest to the highest weight, 0 included, so that 0 stays 0.
BlockRange asymmetric_range(std::span<const float> block, int bits, float share) {
  const auto [low, high] = std::ranges::minmax(block);
  const float bottom = std::min(low, 0.0f) * share;
  const float top = std::max(high, 0.0f) * share;
  const auto scale =
      static_cast<float>((static_cast<double>(top) - static_cast<double>(bottom)) / highest(bits));
  if (scale == 0.0f) return {0.0f, middle(bits)};
  const float zero = std::nearbyint(-bottom / scale);
  return {scale, static_cast<int>(std::clamp(zero, 0.0f, static_cast<float>(highest(bits))))};
}

}  // namespace

int round_to(float weight, const BlockRange& range, int bits) {
  if (range.scale == 0.0f) return range.zero_point;
  constexpr float kMostSteps = 1024.0f;
  const float steps = round_half_even(std::clamp(weight / range.scale, -kMostSteps, kMostSteps));
  const auto most = static_cast<float>(highest(bits));
  return static_cast<int>(std::clamp(steps + static_cast<float>(range.zero_point), 0.0f, most));
}

BlockRange range_of(std::span<const float> block, const BlockScheme& scheme) {
  const auto at = [&](float share) {
    return scheme.symmetric ? symmetric_range(block, scheme.bits, share)
                            : asymmetric_range(block, scheme.bits, share);
  };
  BlockRange best = at(1.0f);
  if (scheme.bits > 4) return best;
  double least = squared_error(block, best, scheme.bits);
  for (int i = 1; i < kRangeCandidates; ++i) {
    const BlockRange range = at(1.0f - kRangeStep * static_cast<float>(i));
    const double error = squared_error(block, range, scheme.bits);
    if (error >= least) continue;
    least = error;
    best = range;
  }
  return best;
}

}  // namespace sampan::quantize
