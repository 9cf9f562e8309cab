#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "optimizer/projection.h"
#include "quantize/block_operators.h"

namespace sampan::optimizer {
namespace {

using graph::GraphBuilder;
using graph::Initializer;
using graph::Operator;
using graph::Value;
using quantize::BlockWeights;
using tensor::DType;

/// Input of MatMulNBits that takes the bias.
constexpr std::size_t kBiasInput = 5;

/// Matrices in blocks of few bits: fast for few rows.
class BlockProjection final : public Projection {
 public:
  BlockProjection(const PortableWeights& weights, const quantize::BlockScheme& scheme)
      : weights_(weights), scheme_(scheme) {}

  Value linear(GraphBuilder& g, const Value& x, const Linear& linear) override {
    const Initializer bias = joined_bias(weights_, linear);
    const auto outputs = static_cast<std::size_t>(bias.shape.front());
    const std::vector<float> joined = joined_weight(weights_, linear);
    const std::size_t inputs = joined.size() / outputs;
    std::vector<float> rows(joined.size());
    for (std::size_t in = 0; in < inputs; ++in)
      for (std::size_t out = 0; out < outputs; ++out)
        rows[out * inputs + in] = joined[in * outputs + out];
    return product(g, x, {linear.name, rounded(rows, inputs, linear.name)}, &bias);
  }

  Value embed(GraphBuilder& g, const Value& ids, const Initializer& table, float scale) override {
    const auto weights = table_of(table);
    quantize::BlockOperator made =
        quantize::block_gather({"", table.name + suffix(), ids.name, ""}, weights);
    // The embedding's factor goes into its scales.
    for (Initializer& initializer : made.initializers)
      if (initializer.dtype == DType::kF32 && scale != 1.0f) {
        const std::string name = initializer.name;
        initializer.name += ".embedding";
        for (std::string& input : made.node.inputs)
          if (input == name) input = initializer.name;
        initializer.data = graph::DataSource([weights, scale](std::span<std::byte> out) {
          std::vector<float> scaled = weights->scales;
          for (float& value : scaled) value *= scale;
          std::memcpy(out.data(), scaled.data(), out.size());
        });
      }
    return add(g, std::move(made), nullptr);
  }

  Value logits(GraphBuilder& g, const Value& states) override {
    const Initializer& table = weights_.output_projection();
    const auto bias = logits_bias(weights_);
    return product(g, states, {table.name, table_of(table)}, bias ? &*bias : nullptr);
  }

 private:
  struct Matrix {
    std::string name;
    std::shared_ptr<const BlockWeights> weights;
  };

  std::string suffix() const { return fmt::format(".int{}", scheme_.bits); }

  std::shared_ptr<const BlockWeights> rounded(std::span<const float> rows, std::size_t columns,
                                              const std::string& name) const {
    const auto fitting = quantize::fit(static_cast<std::int64_t>(columns), scheme_);
    if (!fitting)
      base::fail(ErrorCode::kUnsupported,
                 "'{}' has rows of {}, which no block divides; use --scheme int8 --for throughput, "
                 "or --scheme fp32",
                 name, columns);
    return std::make_shared<const BlockWeights>(
        quantize::quantize_rows(rows, static_cast<std::int64_t>(columns), *fitting));
  }

  std::shared_ptr<const BlockWeights> table_of(const Initializer& source) {
    auto& table = tables_[source.name];
    if (!table)
      table =
          rounded(floats_of(source), static_cast<std::size_t>(source.shape.back()), source.name);
    return table;
  }

  Value product(GraphBuilder& g, const Value& x, const Matrix& matrix,
                const Initializer* bias) const {
    return add(g, quantize::block_product({"", matrix.name + suffix(), x.name, ""}, matrix.weights),
               bias);
  }

  static Value add(GraphBuilder& g, quantize::BlockOperator made, const Initializer* bias) {
    std::vector<Value> inputs;
    for (const std::string& input : made.node.inputs) inputs.push_back({input});
    for (const Initializer& initializer : made.initializers) g.weight(initializer);
    if (bias != nullptr) {
      inputs.resize(kBiasInput);
      inputs.push_back(g.weight(*bias));
    }
    return g.node(Operator(made.node.domain, made.node.op_type), std::move(inputs),
                  std::move(made.node.attributes));
  }

  const PortableWeights& weights_;
  quantize::BlockScheme scheme_;
  std::map<std::string, std::shared_ptr<const BlockWeights>> tables_;
};

}  // namespace

std::unique_ptr<Projection> make_block_projection(const PortableWeights& weights,
                                                  const quantize::BlockScheme& scheme) {
  return std::make_unique<BlockProjection>(weights, scheme);
}

}  // namespace sampan::optimizer
