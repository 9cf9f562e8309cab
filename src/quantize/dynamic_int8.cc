#include "quantize/dynamic_int8.h"

#include <string>
#include <utility>
#include <vector>

namespace sampan::quantize {
namespace {

/// Rounds activations, once for all products that take them; returns the prefix of what came out.
std::string rounded_input(const IntegerProduct& product, IntegerDraft& draft) {
  const auto [place, is_new] =
      draft.rounded.emplace(product.input, product.name + "/DynamicQuantizeLinear");
  const std::string& name = place->second;
  if (is_new)
    draft.nodes.push_back({"DynamicQuantizeLinear",
                           "",
                           name,
                           {product.input},
                           {name, name + ".scale", name + ".zero_point"},
                           {}});
  return name;
}

std::string write_product(const IntegerProduct& product, IntegerDraft& draft) {
  const std::string input = rounded_input(product, draft);
  std::vector<std::string> inputs = {input, product.columns(draft), input + ".zero_point"};
  if (!product.weight.scheme().is_signed) inputs.push_back(product.weight.zero_point());
  const std::string sum =
      draft.append("MatMulInteger", product.name + "/MatMulInteger", std::move(inputs));
  const std::string real =
      draft.append("Cast", product.name + "/Cast", {sum}, {{"to", kCastToFloat}});
  const std::string scales = draft.append("Mul", product.name + "/scales/Mul",
                                          {input + ".scale", product.weight.scales()});
  return product.with_bias(draft.append("Mul", product.name + "/Mul", {real, scales}), draft);
}

}  // namespace

DynamicInt8Scheme::DynamicInt8Scheme(const IntegerScheme& scheme, KeepFloat keep_float)
    : store_(scheme), keep_float_(std::move(keep_float)) {}

SchemeRecord DynamicInt8Scheme::record() const {
  return {"dynamic-int8" + describe(store_.scheme()), "int8", kIntegerOperatorsRuntime};
}

graph::Model DynamicInt8Scheme::rewrite(const graph::Model& model, std::string_view) {
  return rewrite_with_integers(model, store_, keep_float_, write_product);
}

}  // namespace sampan::quantize
