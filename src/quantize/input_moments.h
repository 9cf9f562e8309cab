#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sampan::quantize {

/// Sums x xᵀ over all inputs x of a product that were seen: what an error in its weights costs. Of
/// n inputs it keeps n² doubles. Not thread-safe.
class InputMoments {
 public:
  explicit InputMoments(std::int64_t inputs);

  /// Rows [..., inputs]. Throws `Error` kInvalidData for a value that is not finite, kInternal for
  /// rows of another length.
  void add(std::span<const float> rows);

  std::int64_t inputs() const noexcept { return static_cast<std::int64_t>(inputs_); }
  std::uint64_t rows_seen() const noexcept { return rows_seen_; }
  /// The sums [inputs, inputs], of which the triangle row >= column is filled.
  std::span<const double> sums();

 private:
  void flush();

  std::size_t inputs_;
  std::uint64_t rows_seen_ = 0;
  std::vector<float> pending_;  ///< rows that are not in the sums yet
  std::vector<double> sums_;
};

}  // namespace sampan::quantize
