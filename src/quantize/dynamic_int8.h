#pragma once

#include <string_view>

#include "quantize/integer_rewrite.h"
#include "quantize/scheme.h"

namespace sampan::quantize {

/// 8-bit weights, and activations rounded to 8 bits as they come, with operators of ai.onnx alone:
///
///     x ─► DynamicQuantizeLinear ─► MatMulInteger ─► Cast ─► Mul ─► y
///                     └─ scale ─► Mul (by the weight's scales) ─┘
///
/// ONNX Runtime makes one operator of it. By ONNX's definition an activation has one scale, so that
/// a row of a batch depends on its neighbours.
class DynamicInt8Scheme final : public Scheme {
 public:
  DynamicInt8Scheme(const IntegerScheme& scheme, KeepFloat keep_float);

  /// "dynamic-int8-per-channel", and what is not the default behind it.
  SchemeRecord record() const override;
  graph::Model rewrite(const graph::Model& model, std::string_view graph_file) override;

 private:
  IntegerWeightStore store_;
  KeepFloat keep_float_;
};

}  // namespace sampan::quantize
