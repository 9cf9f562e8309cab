#include "quantize/block_weights.h"

#include <algorithm>

#include "base/fail.h"
#include "quantize/block_range.h"
#include "quantize/float_weight.h"

namespace sampan::quantize {
namespace {

/// The smallest block that the operators read.
constexpr std::int64_t kLeastBlock = 16;

int highest(int bits) { return (1 << bits) - 1; }

/// Puts value `index` of a row into its bits.
void store(std::span<std::byte> row, std::size_t index, int value, int bits) {
  const std::size_t bit = index * static_cast<std::size_t>(bits);
  std::byte& place = row[bit / 8];
  place &= ~static_cast<std::byte>(highest(bits) << (bit % 8));
  place |= static_cast<std::byte>(value << (bit % 8));
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
  const std::size_t zero_bytes = scheme.symmetric ? 0 : packed_bytes(blocks, scheme.bits);
  BlockWeights result{static_cast<std::int64_t>(rows), columns, scheme, {}, {}, {}};
  result.values.resize(rows * packed_bytes(width, scheme.bits));
  result.scales.resize(rows * blocks);
  result.zero_points.resize(rows * zero_bytes);
  std::vector<int> values(block_size);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto block = weights.subspan(row * width + b * block_size, block_size);
      const BlockRange range = range_of(block, scheme);
      std::ranges::transform(block, values.begin(),
                             [&](float weight) { return round_to(weight, range, scheme.bits); });
      store_block(result, static_cast<std::int64_t>(row), static_cast<std::int64_t>(b), range,
                  values);
    }
  return result;
}

void store_block(BlockWeights& weights, std::int64_t row, std::int64_t block,
                 const BlockRange& range, std::span<const int> values) {
  const BlockScheme& scheme = weights.scheme;
  const auto at = static_cast<std::size_t>(row);
  const auto number = static_cast<std::size_t>(block);
  const auto blocks = static_cast<std::size_t>(weights.blocks());
  const std::size_t row_bytes =
      packed_bytes(static_cast<std::size_t>(weights.columns), scheme.bits);
  weights.scales[at * blocks + number] = range.scale;
  if (!scheme.symmetric) {
    const std::size_t zero_bytes = packed_bytes(blocks, scheme.bits);
    store(std::span(weights.zero_points).subspan(at * zero_bytes, zero_bytes), number,
          range.zero_point, scheme.bits);
  }
  const auto stored = std::span(weights.values).subspan(at * row_bytes, row_bytes);
  const std::size_t first = number * static_cast<std::size_t>(scheme.block_size);
  for (std::size_t i = 0; i < values.size(); ++i) store(stored, first + i, values[i], scheme.bits);
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
