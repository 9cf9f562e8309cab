#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"

namespace sampan::test {

/// An F32 initializer of these values, row-major.
inline graph::Initializer floats(const std::string& name, tensor::Shape shape,
                                 const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, tensor::DType::kF32, std::move(shape), std::move(bytes)};
}

/// The same with a made-up sequence of values between -2 and 1, moved by `offset`.
inline graph::Initializer weight(const std::string& name, tensor::Shape shape,
                                 float offset = 0.0f) {
  std::vector<float> values(static_cast<std::size_t>(*tensor::element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = offset + static_cast<float>(i % 13) * 0.25f - 2.0f;
  return floats(name, std::move(shape), values);
}

/// A graph `g` from ids and x to y.
inline graph::Model model_of(std::vector<graph::Initializer> weights,
                             std::vector<graph::Node> nodes) {
  graph::Model model;
  model.opset_imports = {{"", 17}};
  model.graph.name = "g";
  model.graph.inputs = {{"ids", tensor::DType::kI64, std::nullopt},
                        {"x", tensor::DType::kF32, std::nullopt}};
  model.graph.outputs = {{"y", tensor::DType::kF32, std::nullopt}};
  model.graph.initializers = std::move(weights);
  model.graph.nodes = std::move(nodes);
  return model;
}

}  // namespace sampan::test
