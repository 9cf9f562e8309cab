#include "optimizer/projection.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "graph/external_data.h"

namespace sampan::optimizer {
namespace {

using graph::GraphBuilder;
using graph::Initializer;
using graph::Value;
using tensor::DType;

std::int64_t outputs_of(const PortableWeights& weights, const Linear& linear) {
  std::int64_t outputs = 0;
  for (const std::string& module : linear.modules)
    outputs += weights.linear_weight(module).shape.back();
  return outputs;
}

std::vector<std::byte> bytes_of(std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

class FloatProjection final : public Projection {
 public:
  explicit FloatProjection(const PortableWeights& weights) : weights_(weights) {}

  Value linear(GraphBuilder& g, const Value& x, const Linear& linear) override {
    Initializer weight;
    if (linear.modules.size() == 1) {
      weight = weights_.linear_weight(linear.modules.front());
    } else {
      weight.name = linear.name + ".weight";
      weight.shape = {weights_.linear_weight(linear.modules.front()).shape.front(),
                      outputs_of(weights_, linear)};
      weight.data = graph::DataSource([this, linear](std::span<std::byte> out) {
        const std::vector<float> joined = joined_weight(weights_, linear);
        std::memcpy(out.data(), joined.data(), out.size());
      });
    }
    const Value product = g.node("MatMul", {x, g.weight(weight)});
    return g.node("Add", {product, g.weight(joined_bias(weights_, linear))});
  }

  Value embed(GraphBuilder& g, const Value& ids, const Initializer& table, float scale) override {
    const Value rows = g.node("Gather", {g.weight(table), ids}, {{"axis", std::int64_t{0}}});
    return scale == 1.0f ? rows : g.node("Mul", {rows, g.float_scalar(scale)});
  }

  Value logits(GraphBuilder& g, const Value& states) override {
    std::vector<Value> inputs = {states, g.weight(weights_.output_projection())};
    if (const auto bias = logits_bias(weights_)) inputs.push_back(g.weight(*bias));
    return g.node("Gemm", std::move(inputs), {{"transB", std::int64_t{1}}});
  }

 private:
  const PortableWeights& weights_;
};

}  // namespace

std::unique_ptr<Projection> make_float_projection(const PortableWeights& weights) {
  return std::make_unique<FloatProjection>(weights);
}

std::vector<float> joined_weight(const PortableWeights& weights, const Linear& linear) {
  const auto total = static_cast<std::size_t>(outputs_of(weights, linear));
  std::vector<float> joined;
  std::size_t begin = 0;
  for (const std::string& module : linear.modules) {
    const Initializer& weight = weights.linear_weight(module);
    const auto in = static_cast<std::size_t>(weight.shape.front());
    const auto out = static_cast<std::size_t>(weight.shape.back());
    const std::vector<float> values = floats_of(weight);
    joined.resize(in * total);
    for (std::size_t row = 0; row < in; ++row)
      std::copy_n(values.data() + row * out, out, joined.data() + row * total + begin);
    begin += out;
  }
  return joined;
}

Initializer joined_bias(const PortableWeights& weights, const Linear& linear) {
  if (linear.modules.size() == 1) return weights.bias(linear.modules.front());
  std::vector<float> joined;
  for (const std::string& module : linear.modules) {
    const std::vector<float> bias = floats_of(weights.bias(module));
    joined.insert(joined.end(), bias.begin(), bias.end());
  }
  return {linear.name + ".bias", DType::kF32, {std::ssize(joined)}, bytes_of(joined)};
}

std::optional<Initializer> logits_bias(const PortableWeights& weights) {
  if (!weights.output_bias()) return std::nullopt;
  const std::vector<float> values = floats_of(*weights.output_bias());
  if (std::ranges::all_of(values, [](float value) { return value == 0.0f; })) return std::nullopt;
  Initializer bias = *weights.output_bias();
  bias.shape = {std::ssize(values)};
  return bias;
}

std::vector<float> floats_of(const Initializer& initializer) {
  std::vector<float> values(graph::byte_size(initializer) / sizeof(float));
  graph::copy_bytes(initializer, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace sampan::optimizer
