#pragma once

#include <cstdint>
#include <span>

#include "quantize/block_weights.h"

namespace sampan::quantize {

/// Rounds a row-major matrix [rows, columns] to blocks as `quantize_rows`, but so that its products
/// with real inputs change least, not its weights (GPTQ): column by column, and what a column's
/// rounding does to the products the columns behind it make good, as far as the inputs go together.
/// A block's scale is chosen when its first column is reached. Rows that plain rounding leaves with
/// the smaller error stay plain. `moments` [columns, columns], the triangle row >= column: as
/// `InputMoments::sums`; all zero, rounding is plain. Throws `Error` as `quantize_rows`; kInternal
/// for moments of another size; kInvalidData for moments that no inputs have.
BlockWeights quantize_rows_compensated(std::span<const float> weights, std::int64_t columns,
                                       const BlockScheme& scheme, std::span<const double> moments);

}  // namespace sampan::quantize
