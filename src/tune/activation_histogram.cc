#include "tune/activation_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/fail.h"

namespace sampan::tune {
namespace {

using quantize::ActivationRange;

/// Steps of an 8-bit activation.
constexpr std::size_t kLevels = 256;
/// Cuts that entropy tries, from the whole range down to this share of it.
constexpr std::size_t kCuts = 64;
constexpr double kSmallestShare = 0.1;

}  // namespace

float ActivationHistogram::extent() const noexcept { return std::ldexp(1.0f, exponent_); }

/// The cell of a value that is given in widths of a cell.
std::size_t ActivationHistogram::cell_of(float widths) noexcept {
  const float place = widths + static_cast<float>(kCells / 2);
  return static_cast<std::size_t>(std::clamp(place, 0.0f, static_cast<float>(kCells - 1)));
}

void ActivationHistogram::widen(float magnitude) {
  while (magnitude > extent()) {
    std::array<std::uint64_t, kCells> wider{};
    for (std::size_t i = 0; i < kCells; ++i) wider[i / 2 + kCells / 4] += cells_[i];
    cells_ = wider;
    ++exponent_;
  }
}

void ActivationHistogram::add(std::span<const float> values) {
  float magnitude = 0.0f;
  for (const float value : values) {
    if (!std::isfinite(value))
      base::fail(ErrorCode::kInvalidData, "an activation is {}; the model overflows", value);
    magnitude = std::max(magnitude, std::fabs(value));
    lowest_ = std::min(lowest_, value);
    highest_ = std::max(highest_, value);
  }
  widen(magnitude);
  const float cells_a_unit = 1.0f / width();  // exact: a power of two
  for (const float value : values) ++cells_[cell_of(value * cells_a_unit)];
  count_ += values.size();
}

ActivationRange ActivationHistogram::without(double cut) const {
  const double outside = static_cast<double>(count_) * cut / 2.0;
  const auto first_beyond = [&](auto begin, auto end) {
    double seen = 0.0;
    return std::find_if(begin, end, [&](std::uint64_t cell) {
      seen += static_cast<double>(cell);
      return seen > outside;
    });
  };
  const auto low = first_beyond(cells_.begin(), cells_.end()) - cells_.begin();
  const auto high = cells_.rend() - first_beyond(cells_.rbegin(), cells_.rend());
  return {static_cast<float>(low) * width() - extent(),
          static_cast<float>(high) * width() - extent()};
}

/// Kullback-Leibler divergence of the values from the same values clamped to the cells
/// [first, last) and rounded to 256 levels (Szymon Migacz, "8-bit inference with TensorRT", 2017).
double ActivationHistogram::divergence(std::size_t first, std::size_t last) const {
  std::vector<double> clamped(cells_.begin() + static_cast<std::ptrdiff_t>(first),
                              cells_.begin() + static_cast<std::ptrdiff_t>(last));
  std::vector<double> inner = clamped;
  for (std::size_t i = 0; i < first; ++i) clamped.front() += static_cast<double>(cells_[i]);
  for (std::size_t i = last; i < kCells; ++i) clamped.back() += static_cast<double>(cells_[i]);
  const std::size_t size = clamped.size();
  const std::size_t levels = std::min(kLevels, size);
  double inner_total = 0.0;
  for (const double cell : inner) inner_total += cell;
  if (inner_total == 0.0) return HUGE_VAL;
  double result = 0.0;
  const auto total = static_cast<double>(count_);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * size / levels;
    const std::size_t end = (level + 1) * size / levels;
    double sum = 0.0;
    double filled = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += inner[i];
      filled += clamped[i] > 0.0 ? 1.0 : 0.0;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (clamped[i] <= 0.0) continue;
      // A cell that only outliers fill has no rounded values: it counts as if it held a little.
      const double rounded = std::max(sum / filled, 1e-4) / inner_total;
      const double share = clamped[i] / total;
      result += share * std::log(share / rounded);
    }
  }
  return result;
}

ActivationRange ActivationHistogram::least_divergence() const {
  ActivationRange best{lowest_, highest_};
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < kCuts; ++i) {
    const auto share = static_cast<float>(1.0 - (1.0 - kSmallestShare) * static_cast<double>(i) /
                                                    static_cast<double>(kCuts - 1));
    const float most = std::max(-lowest_, highest_) * share;
    const ActivationRange range{std::max(lowest_, -most), std::min(highest_, most)};
    const double loss = divergence(cell_of(range.low / width()), cell_of(range.high / width()) + 1);
    if (loss >= least) continue;
    least = loss;
    best = range;
  }
  return best;
}

ActivationRange ActivationHistogram::range(RangeMethod method, double cut, bool symmetric) const {
  ActivationRange range{lowest_, highest_};
  if (count_ == 0) return range;
  if (method == RangeMethod::kPercentile) range = without(cut);
  if (method == RangeMethod::kEntropy) range = least_divergence();
  range = {std::clamp(range.low, lowest_, 0.0f), std::clamp(range.high, 0.0f, highest_)};
  if (!symmetric) return range;
  const float most = std::max(-range.low, range.high);
  return {-most, most};
}

}  // namespace sampan::tune
