#include "reference/transformer.h"

#include <cmath>

namespace sampan::reference {

Matrix Linear::operator()(const Matrix& x) const {
  Matrix y = x * weight.transpose();
  y.rowwise() += bias;
  return y;
}

Matrix LayerNorm::operator()(const Matrix& x) const {
  const Eigen::VectorXd mean = x.rowwise().mean();
  Matrix y = x.colwise() - mean;
  const Eigen::VectorXd variance = y.array().square().rowwise().mean();
  const Eigen::ArrayXd scale = (variance.array() + kEpsilon).rsqrt();
  y.array().colwise() *= scale;
  y.array().rowwise() *= gain.array();
  y.rowwise() += bias;
  return y;
}

void softmax_rows(Matrix& scores) {
  const Eigen::VectorXd highest = scores.rowwise().maxCoeff();
  scores.colwise() -= highest;
  scores = scores.array().exp().matrix();
  const Eigen::ArrayXd total = scores.rowwise().sum().array();
  scores.array().colwise() /= total;
}

Matrix attend(const Matrix& query, const Matrix& key, const Matrix& value, Index heads) {
  const Index width = query.cols() / heads;
  const double scale = 1.0 / std::sqrt(static_cast<double>(width));
  Matrix result(query.rows(), query.cols());
  for (Index head = 0; head < heads; ++head) {
    const Index first = head * width;
    Matrix scores =
        scale * query.middleCols(first, width) * key.middleCols(first, width).transpose();
    softmax_rows(scores);
    result.middleCols(first, width) = scores * value.middleCols(first, width);
  }
  return result;
}

Matrix sinusoidal_positions(Index positions, Index d_model) {
  const Index sines = d_model - d_model / 2;  // an odd width has one sine more
  Matrix table(positions, d_model);
  for (Index position = 0; position < positions; ++position)
    for (Index column = 0; column < d_model; ++column) {
      const Index k = column < sines ? column : column - sines;
      const double exponent = static_cast<double>(2 * k) / static_cast<double>(d_model);
      const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
      table(position, column) = column < sines ? std::sin(angle) : std::cos(angle);
    }
  return table;
}

}  // namespace sampan::reference
