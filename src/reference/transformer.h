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

  Matrix operator()(const Matrix& x) const;
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

/// For each head: softmax(Q K^T / sqrt(d_head)) V, heads side by side.
/// Q is [queries, d_model], K and V are [positions, d_model]; the result is [queries, d_model].
Matrix attend(const Matrix& query, const Matrix& key, const Matrix& value, Index heads);

/// softmax over each row, shifted by the row's maximum.
void softmax_rows(Matrix& scores);

/// Row p, column k of the first half: sin(p / 10000^(2k / d_model)); of the second half: the cosine.
/// Vaswani et al. 2017, section 3.5, with the sines first rather than interleaved.
Matrix sinusoidal_positions(Index positions, Index d_model);

}  // namespace sampan::reference
