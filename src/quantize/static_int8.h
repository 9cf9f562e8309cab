#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quantize/activation_range.h"
#include "quantize/integer_rewrite.h"
#include "quantize/scheme.h"

namespace sampan::quantize {

/// The activations of a product with a weight.
struct ProductInput {
  std::string weight;  ///< name of the initializer
  std::string value;   ///< name of the activations
};

/// Every product with a weight in the outermost graph, in its order.
std::vector<ProductInput> product_inputs(const graph::Graph& graph);

/// 8-bit weights, and activations rounded to 8 bits with scales that were measured on text:
///
///     x ─► QuantizeLinear ─► DequantizeLinear ─► MatMul ─► y
///     weight ─► DequantizeLinear ───────────────────┘
///
/// ONNX Runtime makes one integer operator of it. Nothing else is rounded: products of two
/// activations (attention), their softmax, biases, normalisations, residual sums and logits stay
/// fp32. A row does not depend on its neighbours.
class StaticInt8Scheme final : public Scheme {
 public:
  /// `method` names how the ranges were found, for the record.
  StaticInt8Scheme(const IntegerScheme& scheme, ActivationRanges ranges, std::string method,
                   KeepFloat keep_float);

  /// "static-int8-per-channel-minmax".
  SchemeRecord record() const override;
  /// Throws also `Error` kInvalidArgument for a weight whose activations have no range.
  graph::Model rewrite(const graph::Model& model, std::string_view graph_file) override;

 private:
  IntegerWeightStore store_;
  ActivationRanges ranges_;
  std::string method_;
  KeepFloat keep_float_;
};

}  // namespace sampan::quantize
