#include "graph/shape_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace sampan::graph {
namespace {

/// More than one fault is rarely another one.
constexpr std::size_t kMostFaults = 20;

std::optional<std::vector<Extent>> declared_shape(const ValueInfo& info) {
  if (!info.shape) return std::nullopt;
  std::vector<Extent> shape;
  for (const Dim& dim : *info.shape) {
    if (const auto* name = std::get_if<std::string>(&dim))
      shape.push_back(Extent::named(*name));
    else
      shape.push_back(std::get<std::int64_t>(dim) < 0 ? Extent() : std::get<std::int64_t>(dim));
  }
  return shape;
}

/// What holds of a value that is one of two.
InferredValue either(const InferredValue& a, const InferredValue& b) {
  InferredValue result;
  if (a.dtype == b.dtype) result.dtype = a.dtype;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return result;
  result.shape.emplace();
  for (std::size_t i = 0; i < a.shape->size(); ++i)
    result.shape->push_back((*a.shape)[i].equals((*b.shape)[i]) ? (*a.shape)[i] : Extent());
  return result;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return true;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return false;
}

class Inference {
 public:
  explicit Inference(const Model& model) : model_(model) {
    for (const OpsetImport& import : model.opset_imports) opsets_[import.domain] = import.version;
  }

  InferredShapes run() && {
    const Graph& graph = model_.graph;
    for (const ValueInfo& input : graph.inputs) {
      if (!input.shape) continue;
      for (const Dim& dim : *input.shape)
        if (const auto* name = std::get_if<std::string>(&dim); name != nullptr && !name->empty())
          varying_.insert(*name);
    }
    infer_graph(graph);
    for (const ValueInfo& output : graph.outputs) check_declared(output, true);
    return std::move(result_);
  }

 private:
  template <typename... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    if (result_.faults.size() < kMostFaults)
      result_.faults.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void infer_graph(const Graph& graph) {
    for (const Initializer& initializer : graph.initializers)
      result_.values[initializer.name] = value_of(initializer);
    for (const ValueInfo& input : graph.inputs)
      result_.values[input.name] = {input.dtype, declared_shape(input), {}};
    for (const Node& node : graph.nodes) infer_node(node);
    for (const ValueInfo& info : graph.value_infos) check_declared(info, false);
  }

  void infer_node(const Node& node) {
    ++result_.nodes;
    std::vector<InferredValue> outputs;
    const OperatorForm* const form = form_of(node);
    if (form != nullptr) {
      check_form(node, *form);
      try {
        if (node.op_type == "If" && node.domain.empty())
          outputs = infer_branches(node);
        else if (form->rule != nullptr)
          outputs = form->rule(NodeView(node, inputs_of(node)));
      } catch (const Contradiction& contradiction) {
        fault("node '{}' ({}): {}", node.name, node.op_type, contradiction.what);
      }
    }
    outputs.resize(node.outputs.size());
    bool known = form != nullptr;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      known = known && outputs[i].dtype && outputs[i].shape;
      result_.values[node.outputs[i]] = std::move(outputs[i]);
    }
    if (known) ++result_.inferred;
  }

  std::vector<InferredValue> inputs_of(const Node& node) const {
    std::vector<InferredValue> inputs;
    for (const std::string& name : node.inputs) {
      const auto place = result_.values.find(name);
      inputs.push_back(place == result_.values.end() ? InferredValue() : place->second);
    }
    return inputs;
  }

  /// The form that the declared operator set has of a node's operator; null where it has none,
  /// which is a fault, or is not known.
  const OperatorForm* form_of(const Node& node) {
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    const std::int64_t opset = opsets_.contains(node.domain) ? opsets_.at(node.domain) : 0;
    if (own && (opset < kFirstKnownOpset || opset > kLastKnownOpset)) {
      ++result_.unknown[fmt::format("operator set {}", opset)];
      return nullptr;
    }
    const OperatorForm* other = nullptr;
    for (const OperatorForm& form : operator_forms()) {
      if (form.type != node.op_type || form.domain != (own ? "" : std::string_view(node.domain)))
        continue;
      if (form.first_opset <= opset && opset <= form.last_opset) return &form;
      other = &form;
    }
    if (other != nullptr && own)
      fault("node '{}': {} is no operator of set {}, it came with set {}", node.name, node.op_type,
            opset, other->first_opset);
    else
      ++result_.unknown[own ? node.op_type : fmt::format("{}.{}", node.domain, node.op_type)];
    return nullptr;
  }

  void check_form(const Node& node, const OperatorForm& form) {
    if (node.inputs.size() < form.fewest_inputs || node.inputs.size() > form.most_inputs)
      fault("node '{}' ({}): it has {} inputs, which this operator set does not have", node.name,
            node.op_type, node.inputs.size());
    if (node.outputs.size() > form.most_outputs)
      fault("node '{}' ({}): it has {} outputs, which this operator set does not have", node.name,
            node.op_type, node.outputs.size());
    if (form.attributes == "*") return;
    for (const auto& [name, value] : node.attributes)
      if (!has_word(form.attributes, name))
        fault("node '{}' ({}): this operator set does not have its attribute '{}'", node.name,
              node.op_type, name);
  }

  std::vector<InferredValue> infer_branches(const Node& node) {
    std::vector<InferredValue> outputs;
    bool first = true;
    for (const auto& [name, value] : node.attributes) {
      const auto* const branch = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (branch == nullptr || *branch == nullptr) continue;
      infer_graph(**branch);
      if ((*branch)->outputs.size() != node.outputs.size())
        throw Contradiction{fmt::format("its {} makes {} values and not {}", name,
                                        (*branch)->outputs.size(), node.outputs.size())};
      outputs.resize(node.outputs.size());
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueInfo& output = (*branch)->outputs[i];
        check_declared(output, false);
        const InferredValue& made = result_.values[output.name];
        outputs[i] = first ? made : either(outputs[i], made);
        outputs[i].content.reset();
      }
      first = false;
    }
    return outputs;
  }

  /// `whole`: an output of the model, where the name of an input's axis is a promise that it
  /// varies. A branch may make an empty tensor instead, and inner declarations may be an exporter's
  /// guess.
  void check_declared(const ValueInfo& info, bool whole) {
    const auto place = result_.values.find(info.name);
    if (place == result_.values.end()) return;
    const InferredValue& found = place->second;
    if (found.dtype && *found.dtype != info.dtype)
      fault("'{}' is declared as {} and is {}", info.name, tensor::name_of(info.dtype),
            tensor::name_of(*found.dtype));
    const auto declared = declared_shape(info);
    if (!declared || !found.shape) return;
    if (declared->size() != found.shape->size())
      return fault("'{}' is declared as {} and is {}", info.name, to_string(*declared),
                   to_string(*found.shape));
    for (std::size_t axis = 0; axis < declared->size(); ++axis) {
      const auto number = (*found.shape)[axis].number();
      const auto wanted = (*declared)[axis].number();
      if (number && wanted && *number != *wanted)
        fault("'{}' is declared as {} and is {}", info.name, to_string(*declared),
              to_string(*found.shape));
      const auto* const name = std::get_if<std::string>(&(*info.shape)[axis]);
      if (whole && number && name != nullptr && varying_.contains(*name))
        fault("'{}': axis {} is declared as '{}', as an input's, and is always {}", info.name, axis,
              *name, *number);
    }
  }

  const Model& model_;
  std::map<std::string, std::int64_t, std::less<>> opsets_;
  std::set<std::string, std::less<>> varying_;
  InferredShapes result_;
};

}  // namespace

InferredShapes infer_shapes(const Model& model) { return Inference(model).run(); }

}  // namespace sampan::graph
