#include "architectures/merged_decoder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sampan::architectures {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Initializer;
using graph::Node;
using graph::ValueInfo;
using tensor::DType;

bool stays_in_branch(const Initializer& initializer) {
  const bool is_shape = initializer.shape.size() == 1 && initializer.dtype == DType::kI64;
  return initializer.shape.empty() || is_shape;
}

/// The empty tensor that stands for an output which a branch does not make: the first axis that the
/// caller fixes has no extent, the others have one, as optimum has them.
Node empty_output(const ValueInfo& output) {
  Initializer empty{"", output.dtype, {}, std::vector<std::byte>()};
  bool is_empty = false;
  for (const Dim& dim : output.shape.value()) {
    if (const auto* extent = std::get_if<std::int64_t>(&dim)) {
      empty.shape.push_back(*extent);
    } else {
      empty.shape.push_back(is_empty ? 1 : 0);
      is_empty = true;
    }
  }
  return {"Constant", "", output.name, {}, {output.name}, {{"value", std::move(empty)}}};
}

/// A decoder's graph as a branch: every name made in it gets `prefix`, as names of the outer graph
/// must stay visible; weights are left to the outer graph.
class BranchMaker {
 public:
  explicit BranchMaker(std::string prefix) : prefix_(std::move(prefix)) {}

  std::shared_ptr<const Graph> make(const Graph& decoder,
                                    const std::vector<ValueInfo>& outputs) && {
    Graph branch;
    branch.name = prefix_;
    for (const Initializer& initializer : decoder.initializers)
      if (stays_in_branch(initializer)) {
        branch.initializers.push_back(initializer);
        branch.initializers.back().name = own(initializer.name);
      }
    for (const Node& node : decoder.nodes) branch.nodes.push_back(renamed(node));
    for (const ValueInfo& output : outputs) {
      if (!names_.contains(output.name)) branch.nodes.push_back(renamed(empty_output(output)));
      branch.outputs.push_back(output);
      branch.outputs.back().name = names_.at(output.name);
    }
    return std::make_shared<const Graph>(std::move(branch));
  }

 private:
  const std::string& own(const std::string& name) {
    const char* const separator = name.starts_with('/') ? "" : "/";
    return names_.emplace(name, prefix_ + separator + name).first->second;
  }

  Node renamed(Node node) {
    for (std::string& input : node.inputs)
      if (const auto place = names_.find(input); place != names_.end()) input = place->second;
    for (std::string& output : node.outputs) output = own(output);
    node.name = prefix_ + (node.name.starts_with('/') ? "" : "/") + node.name;
    return node;
  }

  std::string prefix_;
  std::map<std::string, std::string> names_;
};

template <typename Named>
void append_new(std::vector<Named>& to, const Named& item) {
  if (std::ranges::none_of(to, [&](const Named& known) { return known.name == item.name; }))
    to.push_back(item);
}

}  // namespace

graph::Model merge_decoders(const graph::Model& decoder, const graph::Model& with_past) {
  graph::Model merged = decoder;
  Graph& outer = merged.graph;
  outer = {};
  outer.name = "merged";
  for (const Graph* graph : {&decoder.graph, &with_past.graph}) {
    for (const ValueInfo& input : graph->inputs) append_new(outer.inputs, input);
    for (const Initializer& initializer : graph->initializers)
      if (!stays_in_branch(initializer)) append_new(outer.initializers, initializer);
  }
  const std::string condition = "use_cache_branch";
  outer.inputs.push_back({condition, DType::kBool, {{std::int64_t{1}}}});
  outer.outputs = decoder.graph.outputs;
  Node choice{"If", "", "optimum::if", {condition}, {}, {}};
  for (const ValueInfo& output : outer.outputs) choice.outputs.push_back(output.name);
  choice.attributes = {
      {"then_branch", BranchMaker("with_past").make(with_past.graph, outer.outputs)},
      {"else_branch", BranchMaker("no_past").make(decoder.graph, outer.outputs)}};
  outer.nodes.push_back(std::move(choice));
  return merged;
}

}  // namespace sampan::architectures
