#include "graph/onnx_format.h"

#include <utility>

namespace sampan::graph::onnx {
namespace {

using tensor::DType;

constexpr std::pair<DType, std::int32_t> kDataTypes[] = {
    {DType::kF32, 1}, {DType::kU8, 2},   {DType::kI8, 3},   {DType::kI16, 5},  {DType::kI32, 6},
    {DType::kI64, 7}, {DType::kBool, 9}, {DType::kF16, 10}, {DType::kF64, 11}, {DType::kBF16, 16},
};

}  // namespace

std::int32_t data_type_of(DType dtype) noexcept {
  for (const auto& [known, number] : kDataTypes)
    if (known == dtype) return number;
  return 0;
}

std::optional<DType> dtype_of(std::int64_t data_type) noexcept {
  for (const auto& [known, number] : kDataTypes)
    if (number == data_type) return known;
  return std::nullopt;
}

}  // namespace sampan::graph::onnx
