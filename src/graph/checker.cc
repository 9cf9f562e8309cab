#include "graph/checker.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "graph/external_data.h"

namespace sampan::graph {
namespace {

using Names = std::set<std::string, std::less<>>;

class Checker {
 public:
  std::vector<std::string> check(const Model& model) && {
    for (const OpsetImport& import : model.opset_imports)
      if (!domains_.insert(import.domain).second)
        fault("the operator set of domain '{}' is imported twice", import.domain);
    if (!domains_.contains("")) fault("the operator set of domain 'ai.onnx' is not imported");
    check_graph(model.graph, {});
    return std::move(faults_);
  }

 private:
  template <typename... Args>
  void fault(fmt::format_string<Args...> message, Args&&... args) {
    faults_.push_back(fmt::format(message, std::forward<Args>(args)...));
  }

  void check_graph(const Graph& graph, const Names& outer) {
    Names inputs;
    for (const ValueInfo& input : graph.inputs) {
      if (input.name.empty()) fault("graph '{}': an input has no name", graph.name);
      if (!inputs.insert(input.name).second || outer.contains(input.name))
        fault("graph '{}': the input '{}' is not the only value of that name", graph.name,
              input.name);
    }
    Names visible = outer;
    visible.insert(inputs.begin(), inputs.end());
    Names initializers;
    for (const Initializer& initializer : graph.initializers) {
      // An input may have an initializer: its default.
      if (!initializers.insert(initializer.name).second ||
          (visible.contains(initializer.name) && !inputs.contains(initializer.name)))
        fault("graph '{}': the initializer '{}' is not the only value of that name", graph.name,
              initializer.name);
      check_tensor(initializer, fmt::format("graph '{}'", graph.name));
    }
    visible.insert(initializers.begin(), initializers.end());
    Names node_names;
    for (const Node& node : graph.nodes) {
      if (!node.name.empty() && !node_names.insert(node.name).second)
        fault("graph '{}': two nodes have the name '{}'", graph.name, node.name);
      check_node(node, visible);
    }
    check_outputs(graph, outer, visible);
  }

  void check_outputs(const Graph& graph, const Names& outer, const Names& visible) {
    Names outputs;
    for (const ValueInfo& output : graph.outputs) {
      if (!outputs.insert(output.name).second)
        fault("graph '{}': the output '{}' is declared twice", graph.name, output.name);
      if (!visible.contains(output.name) || outer.contains(output.name))
        fault("graph '{}': nothing in it makes the output '{}'", graph.name, output.name);
    }
  }

  void check_node(const Node& node, Names& visible) {
    const std::string what = fmt::format("node '{}' ({})", node.name, node.op_type);
    if (!domains_.contains(node.domain))
      fault("{}: the operator set of domain '{}' is not imported", what, node.domain);
    for (const std::string& input : node.inputs)
      if (!input.empty() && !visible.contains(input))
        fault("{}: its input '{}' is not made before it", what, input);
    Names attributes;
    for (const auto& [name, value] : node.attributes) {
      if (!attributes.insert(name).second)
        fault("{}: its attribute '{}' is given twice", what, name);
      if (const auto* tensor = std::get_if<Initializer>(&value)) {
        check_tensor(*tensor, what);
      } else if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value)) {
        if (*branch == nullptr)
          fault("{}: its attribute '{}' holds no graph", what, name);
        else
          check_graph(**branch, visible);
      }
    }
    for (const std::string& output : node.outputs)
      if (!output.empty() && !visible.insert(output).second)
        fault("{}: its output '{}' is made twice", what, output);
  }

  void check_tensor(const Initializer& tensor, const std::string& what) {
    std::uint64_t expected = 0;
    try {
      expected = byte_size(tensor);
    } catch (const Error& error) {
      return fault("{}: {}", what, error.what());
    }
    std::uint64_t found = expected;
    if (const auto* bytes = std::get_if<std::vector<std::byte>>(&tensor.data)) {
      found = bytes->size();
    } else if (const auto* borrowed = std::get_if<BorrowedBytes>(&tensor.data)) {
      found = borrowed->bytes.size();
    } else if (const auto* source = std::get_if<DataSource>(&tensor.data)) {
      if (!*source) fault("{}: the initializer '{}' has no data source", what, tensor.name);
    } else {
      const auto& external = std::get<ExternalData>(tensor.data);
      found = external.length;
      if (!stays_in_folder(external.location))
        fault("{}: the initializer '{}' lies in '{}', outside the model's folder", what,
              tensor.name, external.location);
    }
    if (found != expected)
      fault("{}: the initializer '{}' has {} bytes where {} {} asks for {}", what, tensor.name,
            found, tensor::name_of(tensor.dtype), tensor::to_string(tensor.shape), expected);
  }

  static bool stays_in_folder(const std::string& location) {
    const std::filesystem::path path(location);
    return !path.empty() && !path.is_absolute() &&
           std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
  }

  Names domains_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> find_faults(const Model& model) { return Checker().check(model); }

void check_model(const Model& model) {
  const std::vector<std::string> faults = find_faults(model);
  if (faults.empty()) return;
  if (faults.size() == 1) base::fail(ErrorCode::kInvalidData, "{}", faults.front());
  base::fail(ErrorCode::kInvalidData, "{} (and {} more faults)", faults.front(), faults.size() - 1);
}

}  // namespace sampan::graph
