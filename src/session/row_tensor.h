#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "session/row_plan.h"

namespace sampan::session {

/// A tensor [row, ...] in the processor's memory whose rows can be reordered, repeated and dropped.
/// Rows that stay are not touched; fewer rows than before need no new memory.
class RowTensor {
 public:
  RowTensor() = default;
  /// Takes over a tensor that the runtime made. Its memory is written to by `gather`.
  explicit RowTensor(Ort::Value tensor) : memory_(std::move(tensor)) {}

  /// A tensor with memory of its own, not initialised. Throws kResourceExhausted.
  static RowTensor create(const std::vector<std::int64_t>& shape, ONNXTensorElementDataType type);

  bool empty() const { return !memory_; }
  /// For the runtime to read.
  const OrtValue* value() const { return view_ ? view_ : memory_; }
  Ort::Value& tensor() { return view_ ? view_ : memory_; }

  /// Row i becomes old row origins[i], `plan` being `plan_rows(origins)`. Throws kInternal unless
  /// the tensor has `old_rows` rows.
  void gather(const RowPlan& plan, std::int64_t old_rows);

 private:
  std::int64_t capacity() const;

  Ort::Value memory_{nullptr};
  /// The first rows of memory_, once there are fewer.
  Ort::Value view_{nullptr};
};

}  // namespace sampan::session
