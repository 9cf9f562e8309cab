#pragma once

#include <Eigen/Core>

namespace sampan::reference {

/// Row-major, as the checkpoint's tensors are; a row is one position of a sequence.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<double, 1, Eigen::Dynamic>;
using Index = Eigen::Index;

/// y = x W^T + b, with x [rows, in], W [out, in], b [out].
struct Linear {
  Matrix weight;
  RowVector bias;

  /// x W^T.
  Matrix product(const Matrix& x) const { return x * weight.transpose(); }
};

/// y = gain * (x - mean) / sqrt(variance + epsilon) + bias, over each row; the variance is the mean
/// square deviation. Ba, Kiros, Hinton 2016, equation 4.
struct LayerNorm {
  static constexpr double kEpsilon = 1e-5;
  RowVector gain;
  RowVector bias;

  Matrix operator()(const Matrix& x) const;
};

/// The projections of multi-head attention. Vaswani et al. 2017, section 3.2.2.
struct Attention {
  Linear query;
  Linear key;
  Linear value;
  Linear output;
  Index heads = 1;
};

/// Q K^T / sqrt(d_head) of each head, one below the other: Q is [queries, d_model], K is
/// [positions, d_model], the result is [heads * queries, positions].
Matrix attention_scores(const Matrix& query, const Matrix& key, Index heads);

/// Sets to minus infinity what a token may not see: the queries are the last tokens of the
/// positions, and each sees itself and those before it. Scores are those of `attention_scores`.
void hide_later_positions(Matrix& scores, Index heads);

/// The mean of the values under each head's probabilities [heads * queries, positions], heads side
/// by side again: [queries, d_model].
Matrix weighted_values(const Matrix& probabilities, const Matrix& value, Index heads);

/// softmax over each row, shifted by the row's maximum.
void softmax_rows(Matrix& scores);

/// Row p, column k of the first half: sin(p / 10000^(2k / d_model)); of the second half: the
/// cosine. Vaswani et al. 2017, section 3.5, with the sines first rather than interleaved.
Matrix sinusoidal_positions(Index positions, Index d_model);

}  // namespace sampan::reference
