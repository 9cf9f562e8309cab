#pragma once

#include <string>

#include "session/graph_runner.h"

namespace sampan::verify {

/// How far two tensors are from each other.
struct TensorDifference {
  /// Of floats, relative to the largest magnitude expected (to 1 where all are smaller); of whole
  /// numbers and truth values, absolute. Infinity for another shape, and for NaN on one side.
  double largest = 0.0;
  double relative_error = 0.0;  ///< sqrt(sum of squared differences / sum of squared values)
  bool exact = false;           ///< none is allowed: neither side holds floats
  std::string where;            ///< of the largest, with both values; empty where all are equal
};

TensorDifference difference_of(const session::NamedTensor& found,
                               const session::NamedTensor& expected);

}  // namespace sampan::verify
