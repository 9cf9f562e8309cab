#include "quantize/graph_scope.h"

#include <memory>
#include <utility>
#include <variant>

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Initializer;
using graph::Node;

void add_uses(const Graph& graph, UseCounts& uses) {
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) ++uses[input];
    for (const auto& [name, value] : node.attributes)
      if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value))
        add_uses(**branch, uses);
  }
  for (const graph::ValueInfo& output : graph.outputs) ++uses[output.name];
}

template <typename Type>
Type attribute(const Node& node, std::string_view name, Type otherwise) {
  for (const auto& [key, value] : node.attributes)
    if (key == name)
      if (const auto* typed = std::get_if<Type>(&value)) return *typed;
  return otherwise;
}

}  // namespace

UseCounts count_uses(const Graph& graph) {
  UseCounts uses;
  add_uses(graph, uses);
  return uses;
}

GraphScope::GraphScope(const Graph& graph, GraphScope* outer_scope) : outer(outer_scope) {
  for (const Initializer& initializer : graph.initializers)
    initializers.emplace(initializer.name, &initializer);
  for (const graph::ValueInfo& input : graph.inputs) inputs.insert(input.name);
}

void GraphScope::add(Initializer initializer) {
  if (added_names_.insert(initializer.name).second) added.push_back(std::move(initializer));
}

FoundInitializer find_initializer(std::string_view name, GraphScope& scope) {
  for (GraphScope* at = &scope; at != nullptr; at = at->outer) {
    if (at->inputs.contains(name)) return {};
    if (const auto found = at->initializers.find(name); found != at->initializers.end())
      return {found->second, at};
  }
  return {};
}

bool is_graph_input(std::string_view name, const GraphScope& scope) {
  for (const GraphScope* at = &scope; at != nullptr; at = at->outer)
    if (at->inputs.contains(name)) return true;
  return false;
}

bool is_standard(const Node& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

std::int64_t integer_attribute(const Node& node, std::string_view name, std::int64_t otherwise) {
  return attribute(node, name, otherwise);
}

float real_attribute(const Node& node, std::string_view name, float otherwise) {
  return attribute(node, name, otherwise);
}

}  // namespace sampan::quantize
