#include "verify/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "base/fail.h"

namespace sampan::verify {
namespace {

const std::vector<float>& floats_of(const session::NamedTensor& output) {
  const auto* floats = std::get_if<std::vector<float>>(&output.data);
  if (floats == nullptr)
    base::fail(ErrorCode::kInvalidData, "output '{}' holds no floats; export the package again",
               output.name);
  return *floats;
}

void note_shape(const session::NamedTensor& output, const reference::Matrix& expected,
                const RowPlace& place, Worst& worst) {
  worst.difference = std::numeric_limits<double>::infinity();
  worst.where = fmt::format("{}, '{}' has the shape {}, not {} positions of {} in row {}",
                            place.case_name, output.name, tensor::to_string(output.shape),
                            place.length, expected.cols(), place.row);
}

// Where the values of one position of a row lie in an output: `head_dim` of them side by side,
// `head_stride` apart.
struct Layout {
  std::size_t first = 0;  // of the batch row
  std::size_t position_stride = 0;
  std::size_t head_stride = 0;
  std::size_t head_dim = 0;
};

void compare(const session::NamedTensor& output, const Layout& layout,
             const reference::Matrix& expected, const RowPlace& place, bool relative,
             Worst& worst) {
  const std::vector<float>& floats = floats_of(output);
  for (reference::Index position = 0; position < expected.rows(); ++position) {
    const std::size_t start =
        layout.first + static_cast<std::size_t>(position) * layout.position_stride;
    const double unit =
        relative ? std::max(1.0, expected.row(position).cwiseAbs().maxCoeff()) : 1.0;
    for (reference::Index column = 0; column < expected.cols(); ++column) {
      const auto index = static_cast<std::size_t>(column);
      const double value = static_cast<double>(
          floats[start + index / layout.head_dim * layout.head_stride + index % layout.head_dim]);
      double difference = std::abs(value - expected(position, column)) / unit;
      if (!std::isfinite(value)) {
        ++worst.not_finite;
        difference = std::numeric_limits<double>::infinity();
      }
      if (difference <= worst.difference) continue;
      worst.difference = difference;
      worst.where = fmt::format("{}, '{}' of row {}, position {}, column {}: {:.6g} for {:.6g}",
                                place.case_name, output.name, place.row, position, column, value,
                                expected(position, column));
    }
  }
  worst.values += expected.size();
}

void compare_positions(const session::NamedTensor& output, const reference::Matrix& expected,
                       const RowPlace& place, bool relative, Worst& worst) {
  const tensor::Shape& shape = output.shape;
  if (shape.size() != 3 || shape[0] <= static_cast<std::int64_t>(place.row) ||
      shape[1] != place.length || shape[1] < expected.rows() || shape[2] != expected.cols())
    return note_shape(output, expected, place, worst);
  const auto width = static_cast<std::size_t>(shape[2]);
  compare(output, {place.row * static_cast<std::size_t>(shape[1]) * width, width, width, width},
          expected, place, relative, worst);
}

}  // namespace

void compare_states(const session::NamedTensor& output, const reference::Matrix& expected,
                    const RowPlace& place, Worst& worst) {
  compare_positions(output, expected, place, false, worst);
}

void compare_logits(const session::NamedTensor& output, const reference::Matrix& expected,
                    const RowPlace& place, Worst& worst) {
  compare_positions(output, expected, place, true, worst);
}

void compare_cache(const session::NamedTensor& output, const reference::Matrix& expected,
                   const RowPlace& place, Worst& worst) {
  const tensor::Shape& shape = output.shape;
  if (shape.size() != 4 || shape[0] <= static_cast<std::int64_t>(place.row) ||
      shape[2] != place.length || shape[2] < expected.rows() ||
      shape[1] * shape[3] != expected.cols())
    return note_shape(output, expected, place, worst);
  const auto head_dim = static_cast<std::size_t>(shape[3]);
  const std::size_t head_stride = static_cast<std::size_t>(shape[2]) * head_dim;
  const std::size_t row_stride = static_cast<std::size_t>(shape[1]) * head_stride;
  compare(output, {place.row * row_stride, head_dim, head_stride, head_dim}, expected, place, false,
          worst);
}

}  // namespace sampan::verify
