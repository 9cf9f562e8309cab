#pragma once

#include <Eigen/Core>

namespace sampan::reference {

/// Row-major, as the checkpoint's tensors are; a row is one position of a sequence.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<double, 1, Eigen::Dynamic>;
using Index = Eigen::Index;

}  // namespace sampan::reference
