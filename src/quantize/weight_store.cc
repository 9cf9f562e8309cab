#include "quantize/weight_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "quantize/float_weight.h"

namespace sampan::quantize {
namespace {

using graph::Initializer;

std::vector<float> transposed(const std::vector<float>& matrix, std::size_t rows,
                              std::size_t columns) {
  std::vector<float> result(matrix.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      result[column * rows + row] = matrix[row * columns + column];
  return result;
}

}  // namespace

WeightStore::WeightStore(Rounder rounder) : round_(std::move(rounder)) {
  if (!round_)
    round_ = [](const std::string&, std::span<const float> weights, std::int64_t columns,
                const BlockScheme& scheme) { return quantize_rows(weights, columns, scheme); };
}

std::optional<BlockScheme> WeightStore::fitting(const Initializer& weight, Orientation orientation,
                                                const BlockScheme& wanted) {
  if (weight.dtype != tensor::DType::kF32 || weight.shape.size() != 2 || weight.shape[0] <= 0 ||
      weight.shape[1] <= 0)
    return std::nullopt;
  return fit(weight.shape[orientation == Orientation::kRows ? 1 : 0], wanted);
}

std::shared_ptr<const BlockWeights> WeightStore::get(const Initializer& weight,
                                                     Orientation orientation,
                                                     const BlockScheme& scheme) {
  Key key{weight.name, orientation, scheme};
  if (const auto found = entries_.find(key); found != entries_.end()) {
    if (!same_content(found->second.source, weight))
      base::fail(ErrorCode::kInvalidData,
                 "initializer '{}' has two contents in the graphs of one package; export it again",
                 weight.name);
    return found->second.weights;
  }
  std::vector<float> floats = floats_of(weight);
  const auto first = static_cast<std::size_t>(weight.shape[0]);
  const auto second = static_cast<std::size_t>(weight.shape[1]);
  if (orientation == Orientation::kColumns) floats = transposed(floats, first, second);
  const std::int64_t columns = weight.shape[orientation == Orientation::kRows ? 1 : 0];
  try {
    auto rounded =
        std::make_shared<const BlockWeights>(round_(weight.name, floats, columns, scheme));
    entries_.emplace(std::move(key), Entry{weight, rounded});
    return rounded;
  } catch (const Error& error) {
    base::fail(error.code(), "initializer '{}': {}", weight.name, error.what());
  }
}

}  // namespace sampan::quantize
