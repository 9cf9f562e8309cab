#include "graph/graph_builder.h"

#include <fmt/ranges.h>

#include <cstring>
#include <iterator>

#include "base/fail.h"

namespace sampan::graph {

GraphBuilder::GraphBuilder(std::string name) { graph_.name = std::move(name); }

GraphBuilder::Scope::Scope(GraphBuilder& builder, std::string_view name)
    : builder_(builder), outer_length_(builder.prefix_.size()) {
  builder.prefix_.append("/").append(name);
}

GraphBuilder::Scope::~Scope() { builder_.prefix_.resize(outer_length_); }

Value GraphBuilder::input(ValueInfo info) {
  Value value{info.name};
  ++taken_[info.name];
  graph_.inputs.push_back(std::move(info));
  return value;
}

void GraphBuilder::output(const Value& value, ValueInfo info) {
  const bool is_made_here = taken_.contains(value.name) && !initializers_.contains(value.name);
  for (const ValueInfo& input : graph_.inputs)
    if (input.name == value.name)
      base::fail(ErrorCode::kInternal, "graph '{}': the input '{}' cannot be an output itself",
                 graph_.name, value.name);
  if (!is_made_here || taken_.contains(info.name) ||
      !renamed_.emplace(value.name, info.name).second)
    base::fail(ErrorCode::kInternal, "graph '{}': '{}' cannot be the output '{}'", graph_.name,
               value.name, info.name);
  ++taken_[info.name];
  graph_.outputs.push_back(std::move(info));
}

Value GraphBuilder::node(Operator op, std::vector<Value> inputs, Attributes attributes) {
  return node_with_outputs(op, std::move(inputs), 1, std::move(attributes)).front();
}

std::vector<Value> GraphBuilder::node_with_outputs(Operator op, std::vector<Value> inputs,
                                                   std::size_t count, Attributes attributes) {
  Node node;
  node.op_type = op.type;
  node.domain = op.domain;
  node.name = unique(fmt::format("{}/{}", prefix_, op.type));
  for (Value& input : inputs) node.inputs.push_back(std::move(input.name));
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < count; ++i) {
    outputs.push_back({i == 0 ? node.name : unique(fmt::format("{}:{}", node.name, i))});
    node.outputs.push_back(outputs.back().name);
  }
  node.attributes = std::move(attributes);
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

Value GraphBuilder::weight(const Initializer& initializer) {
  const auto [place, is_new] = initializers_.emplace(initializer.name, graph_.initializers.size());
  if (is_new) {
    if (taken_[initializer.name]++ > 0)
      base::fail(ErrorCode::kInternal, "graph '{}': '{}' names a weight and another value",
                 graph_.name, initializer.name);
    graph_.initializers.push_back(initializer);
  } else if (const Initializer& known = graph_.initializers[place->second];
             known.dtype != initializer.dtype || known.shape != initializer.shape) {
    base::fail(ErrorCode::kInternal, "graph '{}': the weight '{}' is {} and {}", graph_.name,
               initializer.name, tensor::to_string(known.shape),
               tensor::to_string(initializer.shape));
  }
  return {initializer.name};
}

namespace {

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(Element));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

}  // namespace

Value GraphBuilder::int_scalar(std::int64_t value) {
  return constant(fmt::format("constant.{}", value), tensor::DType::kI64, {},
                  bytes_of(std::vector<std::int64_t>{value}));
}

Value GraphBuilder::int_vector(const std::vector<std::int64_t>& values) {
  return constant(fmt::format("constant.[{}]", fmt::join(values, ",")), tensor::DType::kI64,
                  {std::ssize(values)}, bytes_of(values));
}

Value GraphBuilder::float_scalar(float value) {
  return constant(fmt::format("constant.{}f", value), tensor::DType::kF32, {},
                  bytes_of(std::vector<float>{value}));
}

Value GraphBuilder::constant(std::string name, tensor::DType dtype, tensor::Shape shape,
                             std::vector<std::byte> bytes) {
  return weight({std::move(name), dtype, std::move(shape), std::move(bytes)});
}

Graph GraphBuilder::build() && {
  const auto rename = [&](std::string& name) {
    if (const auto place = renamed_.find(name); place != renamed_.end()) name = place->second;
  };
  for (Node& node : graph_.nodes) {
    for (std::string& input : node.inputs) rename(input);
    for (std::string& output : node.outputs) rename(output);
  }
  return std::move(graph_);
}

std::string GraphBuilder::unique(std::string name) {
  for (;;) {
    const int earlier = taken_[name]++;
    if (earlier == 0) return name;
    std::string numbered = fmt::format("{}_{}", name, earlier);
    if (!taken_.contains(numbered)) {
      ++taken_[numbered];
      return numbered;
    }
  }
}

}  // namespace sampan::graph
