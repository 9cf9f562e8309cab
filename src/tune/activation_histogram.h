#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quantize/activation_range.h"

namespace sampan::tune {

/// How a range is chosen from the values that were seen.
enum class RangeMethod {
  kMinMax,      ///< everything that was seen
  kPercentile,  ///< without the share of values that lies furthest out, on both sides alike
  kEntropy,     ///< of all cuts, the one whose rounded values tell the most about the unrounded
};

/// Counts values in cells of equal width around 0. When a value lies outside, pairs of cells
/// become one, so that the same values give the same cells in whatever order they came.
class ActivationHistogram {
 public:
  /// Throws `Error` kInvalidData for a value that is not finite.
  void add(std::span<const float> values);

  std::uint64_t count() const noexcept { return count_; }
  float lowest() const noexcept { return lowest_; }
  float highest() const noexcept { return highest_; }

  /// `cut` is the share of values that percentile leaves outside, half of it on each side, 0 to 1;
  /// the other methods pass it over. A symmetric range has the same extent on both sides. The range
  /// includes 0 and nothing beyond what was seen.
  quantize::ActivationRange range(RangeMethod method, double cut, bool symmetric) const;

 private:
  static constexpr std::size_t kCells = 4096;

  /// Distance from 0 to the outer edge of the cells.
  float extent() const noexcept;
  float width() const noexcept { return extent() / (kCells / 2); }
  static std::size_t cell_of(float widths) noexcept;
  void widen(float magnitude);
  quantize::ActivationRange without(double cut) const;
  quantize::ActivationRange least_divergence() const;
  double divergence(std::size_t first, std::size_t last) const;

  std::array<std::uint64_t, kCells> cells_{};
  int exponent_ = -20;  // extent is 2 to the power of it
  std::uint64_t count_ = 0;
  float lowest_ = 0.0f;
  float highest_ = 0.0f;
};

}  // namespace sampan::tune
