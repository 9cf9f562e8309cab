#include "verify/tensor_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace sampan::verify {
namespace {

using session::NamedTensor;

std::vector<double> doubles_of(const NamedTensor& tensor) {
  return std::visit([](const auto& data) { return std::vector<double>(data.begin(), data.end()); },
                    tensor.data);
}

bool holds_floats(const NamedTensor& tensor) {
  return std::holds_alternative<std::vector<float>>(tensor.data);
}

/// "[0, 3, 17]".
std::string index_text(std::size_t place, const tensor::Shape& shape) {
  tensor::Shape index(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    index[axis] = static_cast<std::int64_t>(place % extent);
    place /= extent;
  }
  return tensor::to_string(index);
}

double largest_magnitude(std::span<const double> values) {
  double largest = 1.0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Infinity for what no number measures; equal infinities and two NaN are equal.
double distance(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double difference = std::abs(found - expected);
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

}  // namespace

TensorDifference difference_of(const NamedTensor& found, const NamedTensor& expected) {
  TensorDifference result;
  if (found.shape != expected.shape) {
    result.largest = result.relative_error = std::numeric_limits<double>::infinity();
    result.where = fmt::format("shape {} for {}", tensor::to_string(found.shape),
                               tensor::to_string(expected.shape));
    return result;
  }
  result.exact = !holds_floats(found) && !holds_floats(expected);
  const std::vector<double> ours = doubles_of(found);
  const std::vector<double> theirs = doubles_of(expected);
  const double unit = result.exact ? 1.0 : largest_magnitude(theirs);
  double error = 0;
  double total = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double apart = distance(ours[i], theirs[i]);
    if (std::isfinite(theirs[i])) total += theirs[i] * theirs[i];
    error += apart * apart;
    if (apart / unit <= result.largest) continue;
    result.largest = apart / unit;
    result.where =
        fmt::format("at {}: {:.6g} for {:.6g}", index_text(i, found.shape), ours[i], theirs[i]);
  }
  if (error > 0) result.relative_error = std::sqrt(error / std::max(total, 1e-30));
  return result;
}

}  // namespace sampan::verify
