#include "quantize/weight_only.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "quantize/block_operators.h"
#include "quantize/graph_scope.h"

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Initializer;
using graph::Model;
using graph::Node;
using tensor::DType;

/// The bias of MatMulNBits.
constexpr std::size_t kBiasInput = 5;

/// A weight, how it is to be stored, and its name in the rewritten graph.
struct ChosenWeight {
  FoundInitializer found;
  Orientation orientation;
  BlockScheme scheme;

  const std::string& name() const { return found.initializer->name; }
  std::string new_name() const {
    return fmt::format("{}{}.int{}", name(), orientation == Orientation::kRows ? ".rows" : "",
                       scheme.bits);
  }
  std::int64_t outputs() const {
    return found.initializer->shape[orientation == Orientation::kRows ? 0 : 1];
  }
};

/// A graph under way, with the Adds that can become part of a product.
struct Scope : GraphScope {
  Scope(const Graph& graph, Scope* outer_scope, const UseCounts& uses)
      : GraphScope(graph, outer_scope) {
    for (const Node& node : graph.nodes)
      if (is_standard(node, "Add") && node.inputs.size() == 2)
        for (const std::string& input : node.inputs)
          if (uses.at(input) == 1) sole_adds.emplace(input, &node);
  }

  /// The Adds that alone read a value, by the value's name.
  std::map<std::string, const Node*, std::less<>> sole_adds;
  /// Outputs of Adds that became part of a product.
  std::set<std::string, std::less<>> merged;
};

/// Whether MatMulNBits can add it: [outputs], or [1, outputs].
bool bias_fits(const FoundInitializer& bias, std::int64_t outputs) {
  return bias.initializer != nullptr && bias.initializer->dtype == DType::kF32 &&
         (bias.initializer->shape == tensor::Shape{outputs} ||
          bias.initializer->shape == tensor::Shape{1, outputs});
}

class Rewriter {
 public:
  Rewriter(WeightStore& store, const SchemeChoice& choose) : store_(store), choose_(choose) {}

  Model rewrite(const Model& model) && {
    uses_ = count_uses(model.graph);
    Model result = model;
    result.graph = rewrite(model.graph, nullptr);
    if (changed_) import_microsoft_domain(result);
    return result;
  }

 private:
  Graph rewrite(const Graph& graph, Scope* outer) {
    Scope scope(graph, outer, uses_);
    Graph result = graph;
    result.nodes.clear();
    for (const Node& node : graph.nodes) {
      if (!node.outputs.empty() && scope.merged.contains(node.outputs.front())) continue;
      std::optional<Node> quantized = quantize(node, scope);
      changed_ = changed_ || quantized;
      result.nodes.push_back(quantized ? *std::move(quantized) : with_branches(node, scope));
    }
    std::erase_if(result.initializers, [&](const Initializer& initializer) {
      const auto use = uses_.find(initializer.name);
      return use != uses_.end() && use->second == 0;
    });
    for (Initializer& initializer : scope.added)
      result.initializers.push_back(std::move(initializer));
    return result;
  }

  /// The operator on blocks that does what a node does, if there is one.
  std::optional<Node> quantize(const Node& node, Scope& scope) {
    if (node.outputs.size() != 1) return std::nullopt;
    std::optional<Node> quantized = matmul(node, scope);
    if (!quantized) quantized = gemm(node, scope);
    if (!quantized) quantized = gather(node, scope);
    return quantized;
  }

  Node with_branches(Node node, Scope& scope) {
    for (auto& [name, value] : node.attributes)
      if (auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value))
        *branch = std::make_shared<const Graph>(rewrite(**branch, &scope));
    return node;
  }

  std::optional<Node> matmul(const Node& node, Scope& scope) {
    if (!is_standard(node, "MatMul") || node.inputs.size() != 2) return std::nullopt;
    const auto weight = choose(node.inputs[1], Orientation::kColumns, scope);
    if (!weight) return std::nullopt;
    Node product = product_with(*weight, node);
    const auto place = scope.sole_adds.find(node.outputs.front());
    if (place == scope.sole_adds.end()) return product;
    const Node& add = *place->second;
    const std::string& other = add.inputs[add.inputs[0] == node.outputs.front() ? 1 : 0];
    if (!append_bias(product, other, weight->outputs(), scope)) return product;
    product.outputs = add.outputs;
    scope.merged.insert(add.outputs.front());
    return product;
  }

  std::optional<Node> gemm(const Node& node, Scope& scope) {
    if (!is_standard(node, "Gemm") || node.inputs.size() < 2 ||
        integer_attribute(node, "transA", 0) != 0 || real_attribute(node, "alpha", 1.0f) != 1.0f ||
        real_attribute(node, "beta", 1.0f) != 1.0f)
      return std::nullopt;
    const bool rows = integer_attribute(node, "transB", 0) != 0;
    const auto weight =
        choose(node.inputs[1], rows ? Orientation::kRows : Orientation::kColumns, scope);
    if (!weight) return std::nullopt;
    const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
    if (has_bias && !bias_fits(find_initializer(node.inputs[2], scope), weight->outputs()))
      return std::nullopt;
    Node product = product_with(*weight, node);
    if (has_bias) append_bias(product, node.inputs[2], weight->outputs(), scope);
    return product;
  }

  std::optional<Node> gather(const Node& node, Scope& scope) {
    if (!is_standard(node, "Gather") || node.inputs.size() != 2 ||
        integer_attribute(node, "axis", 0) != 0 || !is_graph_input(node.inputs[1], scope))
      return std::nullopt;
    const auto table = choose(node.inputs[0], Orientation::kRows, scope);
    if (!table) return std::nullopt;
    return take(block_gather({node.name, table->new_name(), node.inputs[1], node.outputs.front()},
                             rounded(*table)),
                *table);
  }

  std::optional<ChosenWeight> choose(const std::string& name, Orientation orientation,
                                     Scope& scope) const {
    const FoundInitializer found = find_initializer(name, scope);
    if (found.initializer == nullptr) return std::nullopt;
    const std::optional<BlockScheme> wanted = choose_(name);
    if (!wanted) return std::nullopt;
    const auto scheme = WeightStore::fitting(*found.initializer, orientation, *wanted);
    if (!scheme) return std::nullopt;
    return ChosenWeight{found, orientation, *scheme};
  }

  std::shared_ptr<const BlockWeights> rounded(const ChosenWeight& weight) {
    return store_.get(*weight.found.initializer, weight.orientation, weight.scheme);
  }

  Node product_with(const ChosenWeight& weight, const Node& node) {
    return take(block_product({node.name, weight.new_name(), node.inputs[0], node.outputs.front()},
                              rounded(weight)),
                weight);
  }

  /// Puts an operator's initializers where the weight was, which it has replaced.
  Node take(BlockOperator made, const ChosenWeight& weight) {
    for (Initializer& initializer : made.initializers)
      weight.found.scope->add(std::move(initializer));
    --uses_[weight.name()];
    return std::move(made.node);
  }

  bool append_bias(Node& product, const std::string& name, std::int64_t outputs, Scope& scope) {
    const FoundInitializer bias = find_initializer(name, scope);
    if (!bias_fits(bias, outputs)) return false;
    product.inputs.resize(kBiasInput);
    if (bias.initializer->shape.size() == 1) {
      product.inputs.push_back(name);
      return true;
    }
    Initializer flat = *bias.initializer;
    flat.name += ".flat";
    flat.shape = {outputs};
    product.inputs.push_back(flat.name);
    bias.scope->add(std::move(flat));
    --uses_[name];
    return true;
  }

  WeightStore& store_;
  const SchemeChoice& choose_;
  UseCounts uses_;
  bool changed_ = false;
};

}  // namespace

Model quantize_weights(const Model& model, WeightStore& store, const SchemeChoice& choose) {
  return Rewriter(store, choose).rewrite(model);
}

WeightOnlyScheme::WeightOnlyScheme(SchemeRecord record, std::shared_ptr<WeightStore> store,
                                   SchemeChoice choose)
    : record_(std::move(record)), store_(std::move(store)), choose_(std::move(choose)) {}

Model WeightOnlyScheme::rewrite(const Model& model, std::string_view) {
  return quantize_weights(model, *store_, choose_);
}

}  // namespace sampan::quantize
