#include "architectures/checkpoint_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fail.h"

namespace sampan::architectures {
namespace {

using graph::Initializer;
using tensor::DType;
using tensor::TensorView;

/// Rows that are converted at a time: small enough for the cache, many enough to write whole lines
/// of a transposed tensor.
constexpr std::size_t kRowsAtOnce = 32;

/// `count` elements of a tensor from element `first` on.
TensorView elements(const TensorView& view, std::size_t first, std::size_t count) {
  const std::size_t size = tensor::size_of(view.dtype);
  return {view.dtype,
          {static_cast<std::int64_t>(count)},
          view.data.subspan(first * size, count * size)};
}

graph::DataSource widened(const TensorView& view) {
  return [view](std::span<std::byte> out) {
    constexpr std::size_t kAtOnce = 4096;
    std::vector<float> floats(kAtOnce);
    const std::size_t count = out.size() / sizeof(float);
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      const std::span<float> some = std::span(floats).first(std::min(kAtOnce, count - first));
      tensor::to_floats(elements(view, first, some.size()), some);
      std::memcpy(out.data() + first * sizeof(float), some.data(), some.size_bytes());
    }
  };
}

graph::DataSource transposed(const TensorView& view) {
  return [view](std::span<std::byte> out) {
    const auto rows = static_cast<std::size_t>(view.shape[0]);
    const auto columns = static_cast<std::size_t>(view.shape[1]);
    std::vector<float> block(kRowsAtOnce * columns);
    std::vector<float> line(kRowsAtOnce);
    for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
      const std::size_t height = std::min(kRowsAtOnce, rows - first);
      tensor::to_floats(elements(view, first * columns, height * columns),
                        std::span(block).first(height * columns));
      for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t row = 0; row < height; ++row) line[row] = block[row * columns + column];
        std::memcpy(out.data() + (column * rows + first) * sizeof(float), line.data(),
                    height * sizeof(float));
      }
    }
  };
}

Initializer as_stored(std::string name, const TensorView& view) {
  Initializer initializer{std::move(name), DType::kF32, view.shape, {}};
  if (view.dtype == DType::kF32)
    initializer.data = graph::BorrowedBytes{view.data, nullptr};
  else
    initializer.data = widened(view);
  return initializer;
}

bool same_content(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.data.size() == b.data.size() &&
         (a.data.data() == b.data.data() ||
          std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0);
}

}  // namespace

const TensorView& CheckpointWeights::checked(const std::string& name, const tensor::Shape& shape) {
  const std::string folder = checkpoint_.folder.string();
  const TensorView* view = checkpoint_.weights.find(name);
  if (view == nullptr)
    base::fail(ErrorCode::kInvalidData,
               "{}: the tensor '{}' {} is missing; the weights do not belong to this config.json",
               folder, name, tensor::to_string(shape));
  if (view->shape != shape)
    base::fail(ErrorCode::kInvalidData,
               "{}: the tensor '{}' is {}, but config.json asks for {}; the two do not belong "
               "together",
               folder, name, tensor::to_string(view->shape), tensor::to_string(shape));
  if (view->dtype != DType::kF32 && view->dtype != DType::kF16 && view->dtype != DType::kBF16)
    base::fail(ErrorCode::kInvalidData,
               "{}: the tensor '{}' has elements of type {}; supported are F32, F16 and BF16",
               folder, name, tensor::name_of(view->dtype));
  taken_.insert(name);
  return *view;
}

Initializer CheckpointWeights::take(const std::string& name, const tensor::Shape& shape) {
  return as_stored(name, checked(name, shape));
}

Initializer CheckpointWeights::take_shared(std::initializer_list<std::string> names,
                                           const tensor::Shape& shape) {
  const TensorView* first = nullptr;
  const std::string* first_name = names.begin();
  for (const std::string& name : names) {
    if (!has(name)) continue;
    const TensorView& view = checked(name, shape);
    if (first == nullptr) {
      first = &view;
      first_name = &name;
    } else if (!same_content(*first, view)) {
      base::fail(ErrorCode::kInvalidData,
                 "{}: the tensors '{}' and '{}' differ, but config.json says that they are one; "
                 "correct share_encoder_decoder_embeddings or tie_word_embeddings",
                 checkpoint_.folder.string(), *first_name, name);
    }
  }
  return take(*first_name, shape);
}

LinearWeights CheckpointWeights::take_linear(const std::string& prefix, std::int64_t in,
                                             std::int64_t out) {
  const TensorView& weight = checked(prefix + ".weight", {out, in});
  return {{prefix + ".weight.transposed", DType::kF32, {in, out}, transposed(weight)},
          take(prefix + ".bias", {out})};
}

LayerNormWeights CheckpointWeights::take_layer_norm(const std::string& prefix, std::int64_t width) {
  return {take(prefix + ".weight", {width}), take(prefix + ".bias", {width})};
}

void CheckpointWeights::refuse_unused() const {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string_view> named;
  std::size_t count = 0;
  for (const auto& [name, view] : checkpoint_.weights.tensors()) {
    if (taken_.contains(name)) continue;
    if (++count <= kMostNamed) named.push_back(name);
  }
  if (count == 0) return;
  base::fail(ErrorCode::kInvalidData,
             "{}: config.json has no place for {} of the tensors: '{}'{}; the two do not belong "
             "together",
             checkpoint_.folder.string(), count, fmt::join(named, "', '"),
             count > kMostNamed ? " and others" : "");
}

}  // namespace sampan::architectures
