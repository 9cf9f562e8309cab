#include "verify/traced_graph.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include "base/fail.h"
#include "graph/onnx_writer.h"

namespace sampan::verify {
namespace {

using session::NamedTensor;

const graph::Graph& branch_graph(const graph::Node& choice, std::string_view name) {
  for (const auto& [attribute, value] : choice.attributes)
    if (attribute == name)
      if (const auto* branch = std::get_if<std::shared_ptr<const graph::Graph>>(&value))
        return **branch;
  base::fail(ErrorCode::kUnsupported, "node '{}' has no {}", choice.name, name);
}

std::vector<std::byte> bytes_of(const graph::Model& model) {
  std::vector<std::byte> bytes;
  graph::write_model(model, [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  });
  return bytes;
}

}  // namespace

graph::Model branch_of(const graph::Model& merged, bool with_past) {
  const graph::Graph& outer = merged.graph;
  const auto is_choice = [](const graph::Node& node) { return node.op_type == "If"; };
  const auto choice = std::ranges::find_if(outer.nodes, is_choice);
  if (choice == outer.nodes.end() || choice->outputs.size() != outer.outputs.size())
    base::fail(ErrorCode::kUnsupported, "graph '{}' does not choose between two decoders",
               outer.name);
  const graph::Graph& branch = branch_graph(*choice, with_past ? "then_branch" : "else_branch");
  graph::Model model = merged;
  graph::Graph& graph = model.graph;
  graph.initializers.insert(graph.initializers.end(), branch.initializers.begin(),
                            branch.initializers.end());
  std::erase_if(graph.nodes, is_choice);
  graph.nodes.insert(graph.nodes.end(), branch.nodes.begin(), branch.nodes.end());
  // Inputs of the other branch are none of this one.
  std::set<std::string> used;
  for (const graph::Node& node : graph.nodes) used.insert(node.inputs.begin(), node.inputs.end());
  std::erase_if(graph.inputs, [&](const auto& input) { return !used.contains(input.name); });
  // The outputs keep their outer names, given by nodes that change nothing.
  for (std::size_t i = 0; i < branch.outputs.size(); ++i) {
    const std::string& name = outer.outputs[i].name;
    if (branch.outputs[i].name == name) continue;
    graph.nodes.push_back({"Identity", "", "output/" + name, {branch.outputs[i].name}, {name}, {}});
  }
  return model;
}

TracedGraph::TracedGraph(graph::Model model, const std::filesystem::path& folder,
                         const std::string& stack, const session::SessionOptions& options) {
  for (Probe& probe : find_probes(model.graph, stack))
    probes_.emplace(probe.name, std::move(probe));
  std::set<std::string> outputs;
  for (const auto& output : model.graph.outputs) outputs.insert(output.name);
  for (const auto& [name, probe] : probes_)
    if (outputs.insert(probe.value).second)
      model.graph.outputs.push_back({probe.value, tensor::DType::kF32, {}});
  session::SessionOptions plain = options;
  plain.optimization_level = session::OptimizationLevel::kDisabled;
  const std::string name = (folder / model.graph.name).string();
  runner_ = std::make_unique<const session::GraphRunner>(bytes_of(model), name, plain, folder);
}

std::map<std::string, NamedTensor, std::less<>> TracedGraph::run(
    std::span<const NamedTensor> inputs) const {
  std::vector<NamedTensor> known;
  for (const NamedTensor& input : inputs)
    if (signature().input(input.name) != nullptr) known.push_back(input);
  std::set<std::string> values;
  for (const auto& [name, probe] : probes_) values.insert(probe.value);
  const std::vector<std::string> names(values.begin(), values.end());
  std::map<std::string, NamedTensor> made;
  for (NamedTensor& tensor : runner_->run(known, names)) made.emplace(tensor.name, tensor);
  std::map<std::string, NamedTensor, std::less<>> result;
  for (const auto& [name, probe] : probes_) result.emplace(name, made.at(probe.value));
  return result;
}

}  // namespace sampan::verify
