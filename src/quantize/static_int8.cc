#include "quantize/static_int8.h"

#include <optional>
#include <utility>

#include "base/fail.h"
#include "quantize/graph_scope.h"
#include "quantize/weight_use.h"

namespace sampan::quantize {
namespace {

class ProductWriter {
 public:
  explicit ProductWriter(const ActivationRanges& ranges) : ranges_(ranges) {}

  std::string write(IntegerProduct product, IntegerDraft& draft) const {
    // ONNX Runtime makes a Gemm of a product of two matrices and a bias, and knows no integer form
    // of it with an fp32 bias: a third axis keeps the two apart.
    const bool is_apart = !product.bias.empty();
    const std::string axis_name = is_apart ? product.weight.add_axis(".apart", 0) : "";
    if (is_apart)
      product.input =
          draft.append("Unsqueeze", product.name + "/Unsqueeze", {product.input, axis_name});
    const std::string input = rounded_input(product, draft);
    const PlacedWeight& weight = product.weight;
    std::vector<std::pair<std::string, graph::AttributeValue>> axis;
    if (weight.scheme().per_channel) axis = {{"axis", std::int64_t{1}}};
    const std::string real = draft.append(
        "DequantizeLinear", product.name + "/weight/DequantizeLinear",
        {product.columns(draft), weight.scales(), weight.zero_points()}, std::move(axis));
    const std::string result =
        product.with_bias(draft.append("MatMul", product.name + "/MatMul", {input, real}), draft);
    if (!is_apart) return result;
    return draft.append("Squeeze", product.name + "/Squeeze", {result, axis_name});
  }

 private:
  /// Rounds activations, once for all products that take them.
  std::string rounded_input(const IntegerProduct& product, IntegerDraft& draft) const {
    const auto [place, is_new] =
        draft.rounded.emplace(product.input, product.name + "/input/DequantizeLinear");
    if (!is_new) return place->second;
    const auto range = ranges_.find(product.weight.original_name());
    if (range == ranges_.end())
      base::fail(ErrorCode::kInvalidArgument,
                 "the calibration text never reaches weight '{}'; give more lines, or keep it with "
                 "--keep-float",
                 product.weight.original_name());
    const ActivationScale scale = scale_of(range->second);
    const std::string scale_name = product.weight.add_real(".input_scale", scale.scale);
    const std::string zero_name = product.weight.add_byte(".input_zero_point", scale.zero_point);
    const std::string rounded =
        draft.append("QuantizeLinear", product.name + "/input/QuantizeLinear",
                     {product.input, scale_name, zero_name});
    return draft.append("DequantizeLinear", place->second, {rounded, scale_name, zero_name});
  }

  const ActivationRanges& ranges_;
};

}  // namespace

std::vector<ProductInput> product_inputs(const graph::Graph& graph) {
  GraphScope scope(graph, nullptr);
  std::vector<ProductInput> products;
  for (const graph::Node& node : graph.nodes) {
    const std::optional<WeightUse> use = weight_use(node, scope);
    if (use && use->kind == WeightUse::Kind::kProduct &&
        IntegerWeightStore::accepts(*use->weight.initializer))
      products.push_back({use->weight.initializer->name, use->input});
  }
  return products;
}

StaticInt8Scheme::StaticInt8Scheme(const IntegerScheme& scheme, ActivationRanges ranges,
                                   std::string method, KeepFloat keep_float)
    : store_(scheme),
      ranges_(std::move(ranges)),
      method_(std::move(method)),
      keep_float_(std::move(keep_float)) {}

SchemeRecord StaticInt8Scheme::record() const {
  return {"static-int8" + describe(store_.scheme()) + "-" + method_, "int8",
          kIntegerOperatorsRuntime};
}

graph::Model StaticInt8Scheme::rewrite(const graph::Model& model, std::string_view) {
  const ProductWriter writer(ranges_);
  return rewrite_with_integers(model, store_, keep_float_,
                               [&](const IntegerProduct& product, IntegerDraft& draft) {
                                 return writer.write(product, draft);
                               });
}

}  // namespace sampan::quantize
