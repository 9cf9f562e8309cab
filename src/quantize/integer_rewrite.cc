#include "quantize/integer_rewrite.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <variant>

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Initializer;
using graph::Node;
using tensor::DType;

template <typename Element>
graph::BorrowedBytes share(const std::vector<Element>& elements,
                           const std::shared_ptr<const IntegerWeights>& owner) {
  return {std::as_bytes(std::span(elements)), owner};
}

class Rewriter {
 public:
  Rewriter(IntegerWeightStore& store, const KeepFloat& keep_float,
           const WriteProduct& write_product)
      : store_(store), keep_float_(keep_float), write_product_(write_product) {}

  graph::Model rewrite(const graph::Model& model) && {
    uses_ = count_uses(model.graph);
    graph::Model result = model;
    result.graph = rewrite(model.graph, nullptr);
    return result;
  }

 private:
  Graph rewrite(const Graph& graph, GraphScope* outer) {
    GraphScope scope(graph, outer);
    IntegerDraft draft;
    for (const Node& node : graph.nodes)
      if (!quantize(node, scope, draft)) draft.nodes.push_back(with_branches(node, scope));
    Graph result = graph;
    result.nodes = std::move(draft.nodes);
    std::erase_if(result.initializers, [&](const Initializer& initializer) {
      const auto use = uses_.find(initializer.name);
      return use != uses_.end() && use->second == 0;
    });
    for (Initializer& initializer : scope.added)
      result.initializers.push_back(std::move(initializer));
    return result;
  }

  Node with_branches(Node node, GraphScope& scope) {
    for (auto& [name, value] : node.attributes)
      if (auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value))
        *branch = std::make_shared<const Graph>(rewrite(**branch, &scope));
    return node;
  }

  bool quantize(const Node& node, GraphScope& scope, IntegerDraft& draft) {
    const std::optional<WeightUse> use = weight_use(node, scope);
    if (!use || !IntegerWeightStore::accepts(*use->weight.initializer)) return false;
    const Initializer& original = *use->weight.initializer;
    if (keep_float_ && keep_float_(original.name)) return false;
    const PlacedWeight weight(use->weight, use->orientation,
                              store_.get(original, use->orientation));
    --uses_[original.name];
    const std::string& name = node.outputs.front();
    std::string result;
    if (use->kind == WeightUse::Kind::kRows) {
      result = pick_rows(weight, use->input, name, draft);
    } else {
      const std::string bias = use->bias.empty() ? "" : flat(use->bias, scope);
      result = write_product_({use->input, weight, bias, name}, draft);
    }
    Node& last = draft.nodes.back();
    last.name = node.name;
    last.outputs = node.outputs;
    return true;
  }

  static std::string pick_rows(const PlacedWeight& weight, const std::string& ids,
                               const std::string& name, IntegerDraft& draft) {
    const std::string rows = draft.append("Gather", name + "/Gather", {weight.values(), ids},
                                          {{"axis", std::int64_t{0}}});
    std::string real = draft.append("Cast", name + "/Cast", {rows}, {{"to", kCastToFloat}});
    if (!weight.scheme().is_signed)
      real = draft.append("Sub", name + "/Sub", {real, weight.real_zero_point()});
    std::string scales = weight.row_scales();
    if (weight.scheme().per_channel)
      scales = draft.append("Gather", name + "/scales/Gather", {scales, ids},
                            {{"axis", std::int64_t{0}}});
    return draft.append("Mul", name + "/Mul", {real, scales});
  }

  /// A bias [1, outputs] as [outputs]: runtimes add that within the product.
  std::string flat(const std::string& bias, GraphScope& scope) {
    const FoundInitializer found = find_initializer(bias, scope);
    if (found.initializer == nullptr || found.initializer->shape.size() != 2 ||
        found.initializer->shape[0] != 1)
      return bias;
    Initializer result = *found.initializer;
    result.name += ".flat";
    result.shape.erase(result.shape.begin());
    std::string name = result.name;
    found.scope->add(std::move(result));
    --uses_[bias];
    return name;
  }

  IntegerWeightStore& store_;
  const KeepFloat& keep_float_;
  const WriteProduct& write_product_;
  UseCounts uses_;
};

}  // namespace

DType PlacedWeight::dtype() const { return scheme().is_signed ? DType::kI8 : DType::kU8; }

std::string PlacedWeight::add(const char* suffix, DType dtype, tensor::Shape shape,
                              decltype(Initializer::data) data) const {
  std::string name = original_.initializer->name;
  if (orientation_ == Orientation::kRows) name += ".rows";
  name += suffix;
  original_.scope->add({name, dtype, std::move(shape), std::move(data)});
  return name;
}

std::string PlacedWeight::values() const {
  return add(".int8", dtype(), weights_->shape, share(weights_->values, weights_));
}

std::string PlacedWeight::scales() const {
  tensor::Shape shape;
  if (scheme().per_channel) shape = {std::ssize(weights_->scales)};
  return add(".scales", DType::kF32, std::move(shape), share(weights_->scales, weights_));
}

std::string PlacedWeight::row_scales() const {
  if (!scheme().per_channel) return scales();
  return add(".row_scales", DType::kF32, {std::ssize(weights_->scales), 1},
             share(weights_->scales, weights_));
}

std::string PlacedWeight::zero_points() const {
  if (!scheme().per_channel) return zero_point();
  const auto value = static_cast<std::byte>(scheme().zero_point());
  return add(".zero_points", dtype(), {std::ssize(weights_->scales)},
             std::vector<std::byte>(weights_->scales.size(), value));
}

std::string PlacedWeight::zero_point() const {
  return add(".zero_point", dtype(), {},
             std::vector<std::byte>{static_cast<std::byte>(scheme().zero_point())});
}

std::string PlacedWeight::real_zero_point() const {
  return add_real(".real_zero_point", static_cast<float>(scheme().zero_point()));
}

std::string PlacedWeight::add_real(const char* suffix, float value) const {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return add(suffix, DType::kF32, {}, std::move(bytes));
}

std::string PlacedWeight::add_axis(const char* suffix, std::int64_t axis) const {
  std::vector<std::byte> bytes(sizeof axis);
  std::memcpy(bytes.data(), &axis, sizeof axis);
  return add(suffix, DType::kI64, {1}, std::move(bytes));
}

std::string PlacedWeight::add_byte(const char* suffix, std::uint8_t value) const {
  return add(suffix, DType::kU8, {}, std::vector<std::byte>{static_cast<std::byte>(value)});
}

std::string IntegerDraft::append(
    const char* op_type, const std::string& name, std::vector<std::string> inputs,
    std::vector<std::pair<std::string, graph::AttributeValue>> attributes) {
  nodes.push_back({op_type, "", name, std::move(inputs), {name}, std::move(attributes)});
  return name;
}

std::string IntegerProduct::columns(IntegerDraft& draft) const {
  if (weight.orientation() == Orientation::kColumns) return weight.values();
  return draft.append("Transpose", name + "/Transpose", {weight.values()},
                      {{"perm", std::vector<std::int64_t>{1, 0}}});
}

std::string IntegerProduct::with_bias(const std::string& result, IntegerDraft& draft) const {
  return bias.empty() ? result : draft.append("Add", name + "/Add", {result, bias});
}

graph::Model rewrite_with_integers(const graph::Model& model, IntegerWeightStore& store,
                                   const KeepFloat& keep_float, const WriteProduct& write_product) {
  return Rewriter(store, keep_float, write_product).rewrite(model);
}

}  // namespace sampan::quantize
