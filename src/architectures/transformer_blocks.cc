#include "architectures/transformer_blocks.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace sampan::architectures {

using checkpoint::Activation;
using graph::Value;

namespace {

constexpr float kNormEpsilon = 1e-5f;
/// From here on LayerNormalization is one operator.
constexpr std::int64_t kLayerNormalizationOpset = 17;

/// The last part of a module's name: "self_attn" of "model.encoder.layers.0.self_attn".
std::string_view leaf(std::string_view prefix) { return prefix.substr(prefix.rfind('.') + 1); }

}  // namespace

Value TransformerBlocks::encoder_layer(const Value& states, const Value& attention_bias,
                                       const std::string& prefix) {
  const Value attended = residual(states, prefix + ".self_attn_layer_norm", [&](const Value& x) {
    const std::string attention = prefix + ".self_attn";
    const auto scope = g_.scope(leaf(attention));
    return attend(x, keys_and_values(x, attention), attention_bias, attention);
  });
  return residual(attended, prefix + ".final_layer_norm",
                  [&](const Value& x) { return feed_forward(x, prefix); });
}

DecoderLayerResult TransformerBlocks::decoder_layer(const Value& states,
                                                    const DecoderLayerContext& context,
                                                    const std::string& prefix) {
  DecoderLayerResult result;
  const Value attended = residual(states, prefix + ".self_attn_layer_norm", [&](const Value& x) {
    const std::string attention = prefix + ".self_attn";
    const auto scope = g_.scope(leaf(attention));
    result.self = keys_and_values(x, attention);
    if (context.past_self) {
      const auto append = [&](const Value& past, const Value& fresh) {
        return g_.node("Concat", {past, fresh}, {{"axis", std::int64_t{2}}});
      };
      result.self = {append(context.past_self->key, result.self.key),
                     append(context.past_self->value, result.self.value)};
    }
    return attend(x, result.self, context.causal_bias, attention);
  });
  const Value crossed =
      residual(attended, prefix + ".encoder_attn_layer_norm", [&](const Value& x) {
        const std::string attention = prefix + ".encoder_attn";
        const auto scope = g_.scope(leaf(attention));
        result.cross = context.past_cross ? *context.past_cross
                                          : keys_and_values(context.encoder_states, attention);
        return attend(x, result.cross, context.cross_bias, attention);
      });
  result.states = residual(crossed, prefix + ".final_layer_norm",
                           [&](const Value& x) { return feed_forward(x, prefix); });
  return result;
}

Value TransformerBlocks::residual(const Value& states, const std::string& norm,
                                  const Block& block) {
  if (options_.norm_place == NormPlace::kPre)
    return g_.node("Add", {states, block(layer_norm(states, norm))});
  return layer_norm(g_.node("Add", {states, block(states)}), norm);
}

Value TransformerBlocks::layer_norm(const Value& states, const std::string& prefix) {
  const auto scope = g_.scope(leaf(prefix));
  const LayerNormWeights weights = weights_.take_layer_norm(prefix, options_.d_model);
  const Value scale = g_.weight(weights.scale);
  const Value bias = g_.weight(weights.bias);
  if (options_.opset >= kLayerNormalizationOpset)
    return g_.node("LayerNormalization", {states, scale, bias},
                   {{"axis", std::int64_t{-1}}, {"epsilon", kNormEpsilon}});
  const auto mean = [&](const Value& x) {
    return g_.node("ReduceMean", {x},
                   {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
  };
  const Value centred = g_.node("Sub", {states, mean(states)});
  const Value variance = mean(g_.node("Pow", {centred, g_.float_scalar(2)}));
  const Value deviation =
      g_.node("Sqrt", {g_.node("Add", {variance, g_.float_scalar(kNormEpsilon)})});
  const Value normal = g_.node("Div", {centred, deviation});
  return g_.node("Add", {g_.node("Mul", {normal, scale}), bias});
}

Value TransformerBlocks::feed_forward(const Value& states, const std::string& prefix) {
  const Value wide = activate(linear(states, prefix + ".fc1", options_.d_model, options_.ffn_dim));
  return linear(wide, prefix + ".fc2", options_.ffn_dim, options_.d_model);
}

Value TransformerBlocks::activate(const Value& x) {
  const auto scope = g_.scope("activation");
  switch (options_.activation) {
    case Activation::kSilu:
      return g_.node("Mul", {x, g_.node("Sigmoid", {x})});
    case Activation::kRelu:
      return g_.node("Relu", {x});
    case Activation::kGelu: {  // x/2 (1 + erf(x / sqrt 2)), arXiv:1606.08415
      const Value scaled = g_.node("Div", {x, g_.float_scalar(std::numbers::sqrt2_v<float>)});
      const Value gate = g_.node("Add", {g_.node("Erf", {scaled}), g_.float_scalar(1)});
      return g_.node("Mul", {g_.node("Mul", {x, gate}), g_.float_scalar(0.5f)});
    }
    case Activation::kGeluTanh: {  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), same paper
      const Value cube = g_.node("Pow", {x, g_.float_scalar(3)});
      const Value inner = g_.node("Add", {x, g_.node("Mul", {cube, g_.float_scalar(0.044715f)})});
      const auto factor = static_cast<float>(std::sqrt(2 * std::numbers::inv_pi));
      const Value tanh = g_.node("Tanh", {g_.node("Mul", {inner, g_.float_scalar(factor)})});
      const Value gate = g_.node("Add", {tanh, g_.float_scalar(1)});
      return g_.node("Mul", {g_.node("Mul", {x, g_.float_scalar(0.5f)}), gate});
    }
  }
  return x;
}

Value TransformerBlocks::linear(const Value& x, const std::string& prefix, std::int64_t in,
                                std::int64_t out) {
  const auto scope = g_.scope(leaf(prefix));
  const LinearWeights weights = weights_.take_linear(prefix, in, out);
  const Value product = g_.node("MatMul", {x, g_.weight(weights.weight)});
  return g_.node("Add", {product, g_.weight(weights.bias)});
}

Value TransformerBlocks::attend(const Value& states, const KeyValue& memory, const Value& bias,
                                const std::string& prefix) {
  const std::int64_t head_dim = options_.d_model / options_.heads;
  const auto scale = static_cast<float>(std::pow(static_cast<double>(head_dim), -0.5));
  const Value queries =
      g_.node("Mul", {project_heads(states, prefix + ".q_proj"), g_.float_scalar(scale)});
  const Value keys =
      g_.node("Transpose", {memory.key}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  const Value scores = g_.node("Add", {g_.node("MatMul", {queries, keys}), bias});
  const Value probabilities = g_.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const Value heads = g_.node("MatMul", {probabilities, memory.value});
  const Value merged = g_.node(
      "Reshape", {g_.node("Transpose", {heads}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}),
                  g_.int_vector({0, 0, options_.d_model})});
  return linear(merged, prefix + ".out_proj", options_.d_model, options_.d_model);
}

KeyValue TransformerBlocks::keys_and_values(const Value& states, const std::string& prefix) {
  Value key = project_heads(states, prefix + ".k_proj");
  return {std::move(key), project_heads(states, prefix + ".v_proj")};
}

Value TransformerBlocks::project_heads(const Value& states, const std::string& prefix) {
  const Value projected = linear(states, prefix, options_.d_model, options_.d_model);
  const auto scope = g_.scope(leaf(prefix));
  const Value split = g_.node(
      "Reshape",
      {projected, g_.int_vector({0, 0, options_.heads, options_.d_model / options_.heads})});
  return g_.node("Transpose", {split}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

}  // namespace sampan::architectures
