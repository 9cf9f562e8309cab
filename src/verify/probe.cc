#include "verify/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

namespace sampan::verify {
namespace {

using graph::Node;
using Nodes = std::vector<const Node*>;

/// Operators that only look at a value in another shape, or compute shapes.
bool is_view(const Node& node) {
  constexpr std::array<std::string_view, 12> kViews = {
      "Reshape", "Transpose", "Unsqueeze", "Squeeze",  "Shape",  "Gather",
      "Concat",  "Slice",     "Constant",  "Identity", "Expand", "Cast"};
  return std::ranges::find(kViews, node.op_type) != kViews.end();
}

/// "layers.0/self_attn/q_proj" of "/encoder/layers.0/self_attn/q_proj/MatMul"; empty outside
/// layers.
std::string_view module_of(const Node& node) {
  const std::string_view name = node.name;
  const std::size_t end = name.rfind('/');
  const std::size_t layers = name.find("layers.");
  if (end == std::string_view::npos || layers == std::string_view::npos || layers > end) return {};
  if (layers > 0 && name[layers - 1] != '/') return {};
  return name.substr(layers, end - layers);
}

class ProbeFinder {
 public:
  ProbeFinder(const graph::Graph& graph, const std::string& stack) : graph_(graph), stack_(stack) {
    for (const auto& initializer : graph.initializers) constants_.insert(initializer.name);
    for (const Node& node : graph.nodes) {
      for (const std::string& output : node.outputs) makers_[output] = &node;
      if (node.op_type == "Constant" && !node.outputs.empty())
        constants_.insert(node.outputs.front());
      if (const auto module = module_of(node); !module.empty())
        modules_[std::string(module)].push_back(&node);
    }
  }

  std::vector<Probe> find() && {
    for (std::size_t layer = 0; has_layer(layer); ++layer) add_layer(layer);
    add_embedding();
    add_outputs();
    return std::move(probes_);
  }

 private:
  const Nodes& nodes_of(const std::string& module) const {
    static const Nodes kNone;
    const auto found = modules_.find(module);
    return found == modules_.end() ? kNone : found->second;
  }

  bool has_layer(std::size_t layer) const {
    const std::string prefix = fmt::format("layers.{}/", layer);
    const auto found = modules_.lower_bound(prefix);
    return found != modules_.end() && found->first.starts_with(prefix);
  }

  const Node* maker(const std::string& value) const {
    const auto found = makers_.find(value);
    return found == makers_.end() ? nullptr : found->second;
  }

  /// The first input that is no weight; empty if there is none.
  std::string data_input(const Node& node) const {
    for (const std::string& input : node.inputs)
      if (!input.empty() && !constants_.contains(input)) return input;
    return {};
  }

  void add(std::string name, const std::string& value) {
    if (value.empty() || constants_.contains(value)) return;
    const Node* node = maker(value);
    if (node == nullptr) return;  // an input
    while (node->op_type == "Identity" && maker(node->inputs.front()) != nullptr)
      node = maker(node->inputs.front());
    probes_.push_back({stack_ + "." + std::move(name), value, node->name, node->op_type});
  }

  void add_layer(std::size_t layer) {
    const std::string module = fmt::format("layers.{}/", layer);
    const std::string name = fmt::format("layers.{}.", layer);
    for (const char* attention : {"self_attn", "encoder_attn"}) {
      for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
        add_linear(module + attention + "/" + part, fmt::format("{}{}.{}", name, attention, part));
      add_attention(nodes_of(module + attention), name + attention);
    }
    add_linear(module + "fc1", name + "fc1");
    if (const Nodes& fc2 = nodes_of(module + "fc2"); !fc2.empty())
      add(name + "activation", data_input(*fc2.front()));
    add_linear(module + "fc2", name + "fc2");
    for (const char* norm : {"self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"})
      add_norm(nodes_of(module + norm), name + norm);
  }

  void add_linear(const std::string& module, const std::string& name) {
    const Nodes& nodes = nodes_of(module);
    const auto last = std::find_if(nodes.rbegin(), nodes.rend(),
                                   [](const Node* node) { return !is_view(*node); });
    if (last == nodes.rend()) return;
    const Node& node = **last;
    if (node.op_type == "Add") {
      const std::string product = data_input(node);
      const Node* made_by = maker(product);
      if (made_by != nullptr && module_of(*made_by) == module) add(name + ".product", product);
    }
    add(name, node.outputs.front());
  }

  void add_attention(const Nodes& nodes, const std::string& name) {
    for (const Node* node : nodes) {
      if (node->op_type != "Softmax") continue;
      add(name + ".scores", node->inputs.front());
      add(name + ".probabilities", node->outputs.front());
      for (const Node* product : nodes)
        if (product->op_type == "MatMul" && product->inputs.front() == node->outputs.front())
          add(name + ".context", product->outputs.front());
    }
  }

  void add_norm(const Nodes& nodes, const std::string& name) {
    if (nodes.empty()) return;
    // A fused operator makes the sum itself.
    if (nodes.front()->op_type != "SkipLayerNormalization")
      add(name + ".input", data_input(*nodes.front()));
    add(name, nodes.back()->outputs.front());
  }

  /// What the first layer reads is a sum of scaled rows of the embedding and of positions.
  void add_embedding() {
    const Nodes& first = nodes_of("layers.0/self_attn/q_proj");
    if (first.empty()) return;
    const std::string sum = data_input(*first.front());
    add("embedding", sum);
    const Node* node = maker(sum);
    if (node == nullptr || node->op_type != "Add") return;
    for (const std::string& input : node->inputs) {
      const Node* part = maker(input);
      if (part == nullptr) {
        continue;
      } else if (part->op_type == "Mul") {
        add("embed_scale", input);
        add("embed_tokens", data_input(*part));
      } else {
        const Node* rows = part;
        while (is_view(*rows) && rows->op_type != "Gather" && maker(data_input(*rows)) != nullptr)
          rows = maker(data_input(*rows));
        add(reads_ids(*rows) ? "embed_tokens" : "embed_positions", input);
      }
    }
  }

  bool reads_ids(const Node& node) const {
    for (const std::string& input : node.inputs) {
      if (input == "input_ids") return true;
      const Node* ids = maker(input);
      if (ids != nullptr && ids->op_type == "Reshape" && ids->inputs.front() == "input_ids")
        return true;
    }
    return false;
  }

  void add_outputs() {
    for (std::size_t layer = 0; has_layer(layer); ++layer)
      for (const auto& [side, attention] :
           {std::pair{"decoder", "self_attn"}, std::pair{"encoder", "encoder_attn"}})
        for (const char* part : {"key", "value"})
          add_output(fmt::format("present.{}.{}.{}", layer, side, part),
                     fmt::format("layers.{}.{}.{}s", layer, attention, part));
    add_output("logits", "lm_head");
  }

  void add_output(const std::string& output, std::string name) {
    for (const auto& info : graph_.outputs)
      if (info.name == output) add(std::move(name), output);
  }

  const graph::Graph& graph_;
  const std::string& stack_;
  std::map<std::string, Nodes, std::less<>> modules_;
  std::map<std::string, const Node*> makers_;
  std::set<std::string> constants_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> find_probes(const graph::Graph& graph, const std::string& stack) {
  return ProbeFinder(graph, stack).find();
}

}  // namespace sampan::verify
