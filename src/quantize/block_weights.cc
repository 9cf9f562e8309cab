#include "quantize/block_weights.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "quantize/float_weight.h"

namespace sampan::quantize {
namespace {

/// Candidates for the range of a 4-bit block: at 16 steps, cutting off the largest weights often
/// costs less than stretching every step.
constexpr int kRangeCandidates = 17;
constexpr float kRangeStep = 0.02f;
/// The smallest block that the operators read.
constexpr std::int64_t kLeastBlock = 16;

/// What a block is stored with.
struct BlockRange {
  float scale = 0.0f;
  int zero_point = 0;
};

int highest(int bits) { return (1 << bits) - 1; }
int middle(int bits) { return 1 << (bits - 1); }

/// Half to even, for values below 2^22: the sum has no bits for a fraction. Unlike `nearbyint`, a
/// compiler turns it into two instructions.
float round_half_even(float value) {
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23
  return (value + kNoFraction) - kNoFraction;
}

int round_to(float weight, const BlockRange& range, int bits) {
  if (range.scale == 0.0f) return range.zero_point;
  constexpr float kMostSteps = 1024.0f;
  const float steps = round_half_even(std::clamp(weight / range.scale, -kMostSteps, kMostSteps));
  const auto most = static_cast<float>(highest(bits));
  return static_cast<int>(std::clamp(steps + static_cast<float>(range.zero_point), 0.0f, most));
}

double squared_error(std::span<const float> block, const BlockRange& range, int bits) {
  double error = 0.0;
  for (const float weight : block) {
    const auto stored = static_cast<float>(round_to(weight, range, bits) - range.zero_point);
    const double difference =
        static_cast<double>(weight) - static_cast<double>(stored * range.scale);
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

/// Puts value `index` of a row into its bits, which are zero.
void store(std::span<std::byte> row, std::size_t index, int value, int bits) {
  const std::size_t bit = index * static_cast<std::size_t>(bits);
  row[bit / 8] |= static_cast<std::byte>(value << (bit % 8));
}

int load(std::span<const std::byte> row, std::size_t index, int bits) {
  const std::size_t bit = index * static_cast<std::size_t>(bits);
  return (std::to_integer<int>(row[bit / 8]) >> (bit % 8)) & highest(bits);
}

std::size_t packed_bytes(std::size_t count, int bits) {
  return (count * static_cast<std::size_t>(bits) + 7) / 8;
}

}  // namespace

std::optional<BlockScheme> fit(std::int64_t columns, BlockScheme scheme) noexcept {
  if (columns <= 0) return std::nullopt;
  while (scheme.block_size > kLeastBlock && columns % scheme.block_size != 0)
    scheme.block_size /= 2;
  if (columns % scheme.block_size != 0) return std::nullopt;
  return scheme;
}

BlockWeights quantize_rows(std::span<const float> weights, std::int64_t columns,
                           const BlockScheme& scheme) {
  const auto width = static_cast<std::size_t>(columns);
  if (fit(columns, scheme) != scheme || weights.size() % width != 0)
    base::fail(ErrorCode::kInternal, "{} columns are not made of blocks of {}", columns,
               scheme.block_size);
  check_finite(weights);
  const std::size_t rows = weights.size() / width;
  const auto block_size = static_cast<std::size_t>(scheme.block_size);
  const std::size_t blocks = width / block_size;
  const std::size_t row_bytes = packed_bytes(width, scheme.bits);
  const std::size_t zero_bytes = scheme.symmetric ? 0 : packed_bytes(blocks, scheme.bits);
  BlockWeights result{static_cast<std::int64_t>(rows), columns, scheme, {}, {}, {}};
  result.values.resize(rows * row_bytes);
  result.scales.resize(rows * blocks);
  result.zero_points.resize(rows * zero_bytes);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto values = std::span(result.values).subspan(row * row_bytes, row_bytes);
    const auto zeros = std::span(result.zero_points).subspan(row * zero_bytes, zero_bytes);
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto block = weights.subspan(row * width + b * block_size, block_size);
      const BlockRange range = range_of(block, scheme);
      result.scales[row * blocks + b] = range.scale;
      if (!scheme.symmetric) store(zeros, b, range.zero_point, scheme.bits);
      for (std::size_t i = 0; i < block_size; ++i)
        store(values, b * block_size + i, round_to(block[i], range, scheme.bits), scheme.bits);
    }
  }
  return result;
}

void dequantize_row(const BlockWeights& weights, std::int64_t row, std::span<float> out) {
  const int bits = weights.scheme.bits;
  const auto width = static_cast<std::size_t>(weights.columns);
  const auto block_size = static_cast<std::size_t>(weights.scheme.block_size);
  const auto blocks = static_cast<std::size_t>(weights.blocks());
  const auto at = static_cast<std::size_t>(row);
  const std::size_t row_bytes = packed_bytes(width, bits);
  const std::size_t zero_bytes = weights.scheme.symmetric ? 0 : packed_bytes(blocks, bits);
  const auto values = std::span(weights.values).subspan(at * row_bytes, row_bytes);
  const auto zeros = std::span(weights.zero_points).subspan(at * zero_bytes, zero_bytes);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t b = i / block_size;
    const int zero = weights.scheme.symmetric ? middle(bits) : load(zeros, b, bits);
    out[i] = static_cast<float>(load(values, i, bits) - zero) * weights.scales[at * blocks + b];
  }
}

}  // namespace sampan::quantize
