#include "quantize/block_operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sampan::quantize {
namespace {

using tensor::DType;

/// MatMulNBits: activations are rounded to 8 bits.
constexpr std::int64_t kInt8Activations = 4;

template <typename Element>
graph::BorrowedBytes share(const std::vector<Element>& elements,
                           const std::shared_ptr<const BlockWeights>& owner) {
  return {std::as_bytes(std::span(elements)), owner};
}

/// Scales and zero points, which both operators take behind their first two inputs.
void append_scales(BlockOperator& result, const std::string& prefix,
                   const std::shared_ptr<const BlockWeights>& weights) {
  const auto append = [&](graph::Initializer initializer) {
    result.node.inputs.push_back(initializer.name);
    result.initializers.push_back(std::move(initializer));
  };
  append({prefix + ".scales",
          DType::kF32,
          {weights->rows, weights->blocks()},
          share(weights->scales, weights)});
  if (weights->zero_points.empty()) return;
  const std::int64_t row_bytes = std::ssize(weights->zero_points) / weights->rows;
  append({prefix + ".zero_points",
          DType::kU8,
          {weights->rows, row_bytes},
          share(weights->zero_points, weights)});
}

}  // namespace

BlockOperator block_product(const BlockOperatorNames& names,
                            const std::shared_ptr<const BlockWeights>& weights) {
  const BlockScheme& scheme = weights->scheme;
  BlockOperator result;
  result.node = {"MatMulNBits",
                 kMicrosoftDomain,
                 names.node,
                 {names.input, names.weight},
                 {names.output},
                 {{"K", weights->columns},
                  {"N", weights->rows},
                  {"accuracy_level", kInt8Activations},
                  {"bits", std::int64_t{scheme.bits}},
                  {"block_size", scheme.block_size}}};
  result.initializers.push_back(
      {names.weight,
       DType::kU8,
       {weights->rows, weights->blocks(), scheme.block_size * scheme.bits / 8},
       share(weights->values, weights)});
  append_scales(result, names.weight, weights);
  return result;
}

BlockOperator block_gather(const BlockOperatorNames& names,
                           const std::shared_ptr<const BlockWeights>& weights) {
  const BlockScheme& scheme = weights->scheme;
  const std::string table = names.weight + ".table";
  BlockOperator result;
  result.node = {"GatherBlockQuantized",
                 kMicrosoftDomain,
                 names.node,
                 {table, names.input},
                 {names.output},
                 {{"bits", std::int64_t{scheme.bits}},
                  {"block_size", scheme.block_size},
                  {"gather_axis", std::int64_t{0}},
                  {"quantize_axis", std::int64_t{1}}}};
  result.initializers.push_back({table,
                                 DType::kU8,
                                 {weights->rows, weights->columns * scheme.bits / 8},
                                 share(weights->values, weights)});
  append_scales(result, names.weight, weights);
  return result;
}

void import_microsoft_domain(graph::Model& model) {
  const bool imported = std::ranges::any_of(
      model.opset_imports, [](const auto& import) { return import.domain == kMicrosoftDomain; });
  if (!imported) model.opset_imports.push_back({kMicrosoftDomain, 1});
}

}  // namespace sampan::quantize
