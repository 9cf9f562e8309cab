#include "session/row_tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sampan/error.h"
#include "session/row_plan.h"
#include "support/caught_error.h"

namespace sampan::session {
namespace {

using Rows = std::vector<std::int64_t>;

/// [rows, 2], row r holding {10 r, 10 r + 1}.
RowTensor numbered(std::int64_t rows) {
  RowTensor tensor = RowTensor::create({rows, 2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  auto* data = tensor.tensor().GetTensorMutableData<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    *data++ = 10 * row;
    *data++ = 10 * row + 1;
  }
  return tensor;
}

/// The first column, after a look at the second.
Rows first_column(RowTensor& tensor) {
  const Rows shape = tensor.tensor().GetTensorTypeAndShapeInfo().GetShape();
  const auto* data = tensor.tensor().GetTensorData<std::int64_t>();
  Rows column;
  for (std::int64_t row = 0; row < shape.front(); ++row) {
    column.push_back(data[2 * row]);
    EXPECT_EQ(data[2 * row + 1], data[2 * row] + 1);
  }
  return column;
}

TEST(RowTensor, fewer_and_reordered_rows_stay_in_the_same_memory) {
  RowTensor tensor = numbered(4);
  const void* memory = tensor.tensor().GetTensorRawData();
  tensor.gather(plan_rows(Rows{3, 2, 0}), 4);
  EXPECT_EQ(first_column(tensor), (Rows{30, 20, 0}));
  tensor.gather(plan_rows(Rows{1, 2, 2, 0}), 3);
  EXPECT_EQ(first_column(tensor), (Rows{20, 0, 0, 30})) << "back to the room that was";
  EXPECT_EQ(tensor.tensor().GetTensorRawData(), memory);
}

TEST(RowTensor, more_rows_get_memory_of_their_own) {
  RowTensor tensor = numbered(2);
  tensor.gather(plan_rows(Rows{1, 1, 0, 1, 0}), 2);
  EXPECT_EQ(first_column(tensor), (Rows{10, 10, 0, 10, 0}));
}

TEST(RowTensor, all_rows_may_leave) {
  RowTensor tensor = numbered(2);
  tensor.gather(plan_rows({}), 2);
  EXPECT_EQ(first_column(tensor), Rows{});
}

TEST(RowTensor, refuses_a_count_of_rows_that_is_not_its_own) {
  RowTensor tensor = numbered(2);
  EXPECT_EQ(test::caught_error([&] { tensor.gather(plan_rows(Rows{0}), 3); }).code(),
            ErrorCode::kInternal);
}

TEST(RowTensor, memory_that_cannot_be_had_is_an_error_of_ours) {
  // More elements than can be counted: a sanitizer ends the process where memory runs out.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Error error = test::caught_error([&] {
    RowTensor::create({most, most}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  });
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace sampan::session
