#include "session/row_tensor.h"

#include <cstring>
#include <memory>

#include "base/fail.h"

namespace sampan::session {
namespace {

std::size_t element_size(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return sizeof(float);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return sizeof(std::int64_t);
    default:
      base::fail(ErrorCode::kInternal, "a tensor of ONNX element type {} cannot be reordered",
                 static_cast<int>(type));
  }
}

void run_moves(const RowPlan& plan, std::byte* data, std::size_t row_bytes) {
  std::unique_ptr<std::byte[]> spare;
  if (plan.needs_spare) spare = std::make_unique_for_overwrite<std::byte[]>(row_bytes);
  for (const RowPlan::Move& move : plan.moves) {
    const std::byte* from = move.from == RowPlan::kSpare
                                ? spare.get()
                                : data + static_cast<std::size_t>(move.from) * row_bytes;
    std::byte* to = move.to == RowPlan::kSpare
                        ? spare.get()
                        : data + static_cast<std::size_t>(move.to) * row_bytes;
    std::memcpy(to, from, row_bytes);
  }
}

}  // namespace

RowTensor RowTensor::create(const std::vector<std::int64_t>& shape,
                            ONNXTensorElementDataType type) {
  Ort::AllocatorWithDefaultOptions allocator;
  try {
    return RowTensor(Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), type));
  } catch (const Ort::Exception& error) {
    base::fail(ErrorCode::kResourceExhausted,
               "no memory for a batch of {} rows ({}); translate fewer sentences at once",
               shape.front(), error.what());
  }
}

std::int64_t RowTensor::capacity() const {
  return memory_.GetTensorTypeAndShapeInfo().GetShape().front();
}

void RowTensor::gather(const RowPlan& plan, std::int64_t old_rows) {
  const Ort::TensorTypeAndShapeInfo info = tensor().GetTensorTypeAndShapeInfo();
  std::vector<std::int64_t> shape = info.GetShape();
  if (shape.empty() || shape.front() != old_rows)
    base::fail(ErrorCode::kInternal, "a cache tensor has {} rows where {} are decoded",
               shape.empty() ? 0 : shape.front(), old_rows);
  if (plan.moves.empty() && plan.rows == old_rows) return;

  const ONNXTensorElementDataType type = info.GetElementType();
  const std::size_t row_bytes =
      old_rows == 0
          ? 0
          : info.GetElementCount() / static_cast<std::size_t>(old_rows) * element_size(type);
  auto* data = static_cast<std::byte*>(tensor().GetTensorMutableRawData());
  shape.front() = plan.rows;
  if (plan.rows > capacity()) {
    RowTensor grown = create(shape, type);
    auto* target = static_cast<std::byte*>(grown.tensor().GetTensorMutableRawData());
    for (const std::int64_t origin : plan.origins) {
      if (row_bytes == 0) break;
      std::memcpy(target, data + static_cast<std::size_t>(origin) * row_bytes, row_bytes);
      target += row_bytes;
    }
    *this = std::move(grown);
    return;
  }
  if (row_bytes > 0) run_moves(plan, data, row_bytes);
  view_ = plan.rows == capacity()
              ? Ort::Value{nullptr}
              : Ort::Value::CreateTensor(memory_.GetTensorMemoryInfo(), data,
                                         row_bytes * static_cast<std::size_t>(plan.rows),
                                         shape.data(), shape.size(), type);
}

}  // namespace sampan::session
