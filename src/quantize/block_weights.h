#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sampan::quantize {

/// How a matrix is stored in few bits: every `block_size` neighbours of a row share a scale and, if
/// not symmetric, a zero point: weight = (value - zero point) * scale.
struct BlockScheme {
  int bits = 8;                   ///< 8 or 4
  std::int64_t block_size = 128;  ///< a power of two, 16 or more; divides the row
  bool symmetric = true;          ///< the zero point is 2^(bits-1) and is not stored

  auto operator<=>(const BlockScheme&) const = default;
};

/// A matrix [rows, columns] in blocks, laid out as MatMulNBits and GatherBlockQuantized of ONNX
/// Runtime's domain com.microsoft read it.
struct BlockWeights {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  BlockScheme scheme;
  /// [rows, columns * bits / 8]: of two 4-bit values in a byte the first is in the low half.
  std::vector<std::byte> values;
  /// [rows, columns / block_size].
  std::vector<float> scales;
  /// [rows, ceil(columns / block_size * bits / 8)], packed as `values`; empty if symmetric.
  std::vector<std::byte> zero_points;

  std::int64_t blocks() const noexcept { return columns / scheme.block_size; }
};

/// `scheme` with the largest block, no larger than its own, that divides a row of so many columns;
/// nothing where not even blocks of 16 do.
std::optional<BlockScheme> fit(std::int64_t columns, BlockScheme scheme) noexcept;

/// Rounds a row-major matrix [rows, columns] to blocks, each with the scale (of a few candidates
/// for 4 bits) that has the least squared error. Throws `Error` kInvalidData for a weight that is
/// not finite, and kInternal for columns that do not fit.
BlockWeights quantize_rows(std::span<const float> weights, std::int64_t columns,
                           const BlockScheme& scheme);

struct BlockRange;

/// Replaces a block: what it is stored with, and its `block_size` values.
void store_block(BlockWeights& weights, std::int64_t row, std::int64_t block,
                 const BlockRange& range, std::span<const int> values);

/// The weights of one row that the stored ones stand for; `out` has `columns` elements.
void dequantize_row(const BlockWeights& weights, std::int64_t row, std::span<float> out);

}  // namespace sampan::quantize
