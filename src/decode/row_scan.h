#pragma once

#include <span>
#include <vector>

namespace sampan::decode {

/// Entries of a logits row that share one maximum in `RowMaxima`.
inline constexpr std::size_t kRowBlock = 64;

/// The highest logit of each block of a row: one fast pass, after which the best few entries of
/// 65,001 are found by looking at a few blocks. Reusable; not thread-safe.
class RowMaxima {
 public:
  /// Scans `row`, which is not empty. Returns false if an entry is NaN or +infinity.
  bool scan(std::span<const float> row);
  /// Highest logit of the row; -infinity where every entry is.
  float highest() const noexcept { return highest_; }
  /// Highest logit of entries [i * kRowBlock, (i + 1) * kRowBlock).
  std::span<const float> blocks() const noexcept { return blocks_; }

 private:
  std::vector<float> blocks_;
  float highest_ = 0.0F;
};

/// exp(x) for x <= 0, within 2 units in the last place; below -87 a number under 2e-38 that adds
/// nothing to a sum of probabilities. The same bits on every processor.
float exp_of_negative(float x) noexcept;

/// Sum over the row of exp(logit - highest), where `highest` is the row's maximum and finite.
/// Accumulated in a fixed order, so the same bits on every processor.
float sum_of_exponentials(std::span<const float> row, float highest) noexcept;

}  // namespace sampan::decode
