#include "reference/transformer.h"

#include <cmath>
#include <limits>

namespace sampan::reference {

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

Matrix attention_scores(const Matrix& query, const Matrix& key, Index heads) {
  const Index width = query.cols() / heads;
  const double scale = 1.0 / std::sqrt(static_cast<double>(width));
  Matrix scores(heads * query.rows(), key.rows());
  for (Index head = 0; head < heads; ++head)
    scores.middleRows(head * query.rows(), query.rows()) =
        scale * query.middleCols(head * width, width) *
        key.middleCols(head * width, width).transpose();
  return scores;
}

void hide_later_positions(Matrix& scores, Index heads) {
  const Index queries = scores.rows() / heads;
  for (Index row = 0; row < scores.rows(); ++row) {
    const Index later = queries - 1 - row % queries;
    scores.row(row).tail(later).setConstant(-std::numeric_limits<double>::infinity());
  }
}

Matrix weighted_values(const Matrix& probabilities, const Matrix& value, Index heads) {
  const Index width = value.cols() / heads;
  const Index queries = probabilities.rows() / heads;
  Matrix result(queries, value.cols());
  for (Index head = 0; head < heads; ++head)
    result.middleCols(head * width, width) =
        probabilities.middleRows(head * queries, queries) * value.middleCols(head * width, width);
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
