#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/row_scan.h"

namespace sampan::decode {

/// One entry of a logits row.
struct RankedToken {
  std::int64_t token = 0;
  float logit = 0.0F;
};

/// Finds the best few entries of a row without sorting or copying it. Reusable; not thread-safe.
class TopK {
 public:
  /// The `k` highest entries of `row`, highest first, valid until the next call; fewer where the
  /// row has fewer above -infinity. Among equal logits the lowest token wins, which torch.topk
  /// leaves open. `maxima` has scanned this very row. Time: one look at the block maxima and at
  /// about `k` blocks.
  std::span<const RankedToken> select(std::span<const float> row, const RowMaxima& maxima,
                                      std::size_t k);

  /// Every entry of `row` that is at least `threshold` (above -infinity), in the same order, valid
  /// until the next call.
  std::span<const RankedToken> reaching(std::span<const float> row, const RowMaxima& maxima,
                                        float threshold);

 private:
  void collect(std::span<const float> row, const RowMaxima& maxima, float threshold);

  std::vector<float> block_order_;
  std::vector<RankedToken> found_;
};

}  // namespace sampan::decode
