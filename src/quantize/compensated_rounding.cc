#include "quantize/compensated_rounding.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "base/fail.h"
#include "quantize/block_range.h"

namespace sampan::quantize {
namespace {

using Eigen::Index;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Moments = Eigen::Map<const Matrix>;

/// Rows under way at once, which bounds the memory that a large table takes.
constexpr Index kRowsAtOnce = 1024;
/// Share of the mean moment that is added to each input's own: inputs that were hardly seen, or
/// always together, would be trusted too far otherwise.
constexpr double kDamping = 0.01;

/// U of UᵀU = (moments + damping)⁻¹. Row i, divided by its first element, says what the columns
/// behind column i have to take over of its error.
Matrix spreading_of(const Moments& moments) {
  const Index size = moments.rows();
  Matrix damped = moments;
  damped.diagonal().array() += kDamping * moments.diagonal().mean();
  const Eigen::LLT<Matrix, Eigen::Lower> factor(damped);
  const Matrix inverse = factor.solve(Matrix::Identity(size, size));
  const Eigen::LLT<Matrix, Eigen::Upper> spreading(inverse);
  if (factor.info() != Eigen::Success || spreading.info() != Eigen::Success)
    base::fail(ErrorCode::kInvalidData,
               "the inputs of a product have no inverse moments; calibrate with more text");
  return spreading.matrixU();
}

/// Some rows of a matrix on their way through its columns.
class RowGroup {
 public:
  RowGroup(const Matrix& weights, const BlockScheme& scheme, const Matrix& spreading)
      : scheme_(scheme),
        spreading_(spreading),
        size_(static_cast<Index>(scheme.block_size)),
        weights_(weights),
        rounded_(weights.rows(), weights.cols()),
        values_(static_cast<std::size_t>(weights.size())),
        ranges_(static_cast<std::size_t>(weights.rows() * (weights.cols() / size_))) {}

  void round() {
    Matrix errors(weights_.rows(), size_);
    for (Index first = 0; first < weights_.cols(); first += size_) {
      for (Index row = 0; row < weights_.rows(); ++row) round_block(row, first, errors);
      const Index rest = weights_.cols() - first - size_;
      weights_.rightCols(rest).noalias() -=
          errors * spreading_.block(first, first + size_, size_, rest);
    }
  }

  const Matrix& rounded() const { return rounded_; }

  /// Puts a row of this group into row `target` of the result.
  void store(Index row, BlockWeights& result, std::int64_t target) const {
    const Index blocks = weights_.cols() / size_;
    for (Index block = 0; block < blocks; ++block) {
      const auto first = static_cast<std::size_t>(row * weights_.cols() + block * size_);
      store_block(result, target, block, ranges_[static_cast<std::size_t>(row * blocks + block)],
                  std::span(values_).subspan(first, static_cast<std::size_t>(size_)));
    }
  }

 private:
  /// Rounds the block of a row that begins at a column; `errors` gets what is left to spread.
  void round_block(Index row, Index first, Matrix& errors) {
    const Eigen::VectorXf block = weights_.row(row).segment(first, size_).cast<float>();
    const BlockRange range =
        range_of({block.data(), static_cast<std::size_t>(block.size())}, scheme_);
    ranges_[static_cast<std::size_t>(row * (weights_.cols() / size_) + first / size_)] = range;
    for (Index i = 0; i < size_; ++i) {
      const Index column = first + i;
      const double weight = weights_(row, column);
      const int value = round_to(static_cast<float>(weight), range, scheme_.bits);
      values_[static_cast<std::size_t>(row * weights_.cols() + column)] = value;
      rounded_(row, column) = static_cast<double>(range.weight_of(value));
      const double error = (weight - rounded_(row, column)) / spreading_(column, column);
      errors(row, i) = error;
      const Index behind = size_ - i - 1;
      weights_.row(row).segment(column + 1, behind) -=
          error * spreading_.row(column).segment(column + 1, behind);
    }
  }

  const BlockScheme& scheme_;
  const Matrix& spreading_;
  Index size_;
  Matrix weights_;  ///< what is still to be rounded, errors of earlier columns made good
  Matrix rounded_;  ///< what the stored values stand for
  std::vector<int> values_;
  std::vector<BlockRange> ranges_;
};

/// What wrong weights do to the products, squared and summed over the inputs, for each row.
Eigen::VectorXd costs_of(const Matrix& error, const Moments& moments) {
  const Matrix spread = error * moments.selfadjointView<Eigen::Lower>();
  return spread.cwiseProduct(error).rowwise().sum();
}

/// Rows [first, first + count) as the stored ones stand for.
Matrix stored_rows(const BlockWeights& weights, Index first, Index count) {
  std::vector<float> row(static_cast<std::size_t>(weights.columns));
  Matrix result(count, static_cast<Index>(row.size()));
  for (Index i = 0; i < count; ++i) {
    dequantize_row(weights, first + i, row);
    result.row(i) = Eigen::Map<const Eigen::RowVectorXf>(row.data(), result.cols()).cast<double>();
  }
  return result;
}

}  // namespace

BlockWeights quantize_rows_compensated(std::span<const float> weights, std::int64_t columns,
                                       const BlockScheme& scheme, std::span<const double> moments) {
  const auto width = static_cast<std::size_t>(columns);
  if (moments.size() != width * width)
    base::fail(ErrorCode::kInternal, "{} moments do not belong to {} columns", moments.size(),
               columns);
  BlockWeights result = quantize_rows(weights, columns, scheme);
  const Moments inputs(moments.data(), columns, columns);
  if (!(inputs.trace() > 0.0)) return result;
  const Matrix spreading = spreading_of(inputs);
  using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const FloatRows> all(weights.data(), result.rows, columns);
  for (Index first = 0; first < all.rows(); first += kRowsAtOnce) {
    const Index count = std::min(kRowsAtOnce, all.rows() - first);
    const Matrix original = all.middleRows(first, count).cast<double>();
    RowGroup group(original, scheme, spreading);
    group.round();
    const Eigen::VectorXd compensated = costs_of(original - group.rounded(), inputs);
    const Eigen::VectorXd plain = costs_of(original - stored_rows(result, first, count), inputs);
    for (Index row = 0; row < count; ++row)
      if (compensated(row) < plain(row)) group.store(row, result, first + row);
  }
  return result;
}

}  // namespace sampan::quantize
