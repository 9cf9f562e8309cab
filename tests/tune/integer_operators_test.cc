// The runtime's integer operators against their definition (github.com/onnx/onnx,
// docs/Operators.md: DynamicQuantizeLinear, MatMulInteger), worked out in plain arithmetic.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/onnx_writer.h"
#include "quantize/dynamic_int8.h"
#include "quantize/integer_weights.h"
#include "session/graph_runner.h"

namespace sampan::tune {
namespace {

using quantize::IntegerScheme;
using quantize::IntegerWeights;
using quantize::Orientation;

constexpr std::size_t kRows = 3;
constexpr std::size_t kInputs = 24;
constexpr std::size_t kOutputs = 10;

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 4001) / 1000.0f - 1.5f;
  return values;
}

/// x times a weight, as MatMul with [inputs, outputs] or as Gemm with [outputs, inputs].
graph::Model product(Orientation orientation, const std::vector<float>& weights) {
  const bool rows = orientation == Orientation::kRows;
  const auto first = static_cast<std::int64_t>(rows ? kOutputs : kInputs);
  const auto second = static_cast<std::int64_t>(rows ? kInputs : kOutputs);
  const auto bytes = std::as_bytes(std::span(weights));
  graph::Model model;
  model.opset_imports = {{"", 17}};
  model.graph.name = "product";
  model.graph.inputs = {{"x", tensor::DType::kF32, {{"rows", static_cast<std::int64_t>(kInputs)}}}};
  model.graph.outputs = {
      {"y", tensor::DType::kF32, {{"rows", static_cast<std::int64_t>(kOutputs)}}}};
  model.graph.initializers = {{"w",
                               tensor::DType::kF32,
                               {first, second},
                               std::vector<std::byte>(bytes.begin(), bytes.end())}};
  model.graph.nodes = {{rows ? "Gemm" : "MatMul", "", "m", {"x", "w"}, {"y"}, {}}};
  if (rows) model.graph.nodes[0].attributes = {{"transB", std::int64_t{1}}};
  return model;
}

std::vector<float> run(const graph::Model& model, const std::vector<float>& x) {
  std::vector<std::byte> bytes;
  graph::write_model(model, [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  session::SessionOptions options;
  options.intra_op_threads = 1;
  const session::GraphRunner runner(bytes, "product", options);
  const session::NamedTensor input{
      "x", {static_cast<std::int64_t>(kRows), static_cast<std::int64_t>(kInputs)}, x};
  const std::vector<std::string> outputs = {"y"};
  return std::get<std::vector<float>>(runner.run({&input, 1}, outputs).front().data);
}

/// What the definitions of the operators give.
std::vector<float> by_definition(const std::vector<float>& x, const std::vector<float>& weights,
                                 Orientation orientation, const IntegerScheme& scheme) {
  const bool rows = orientation == Orientation::kRows;
  const tensor::Shape shape = {static_cast<std::int64_t>(rows ? kOutputs : kInputs),
                               static_cast<std::int64_t>(rows ? kInputs : kOutputs)};
  const IntegerWeights rounded = quantize::round_to_integers(weights, shape, orientation, scheme);
  const auto [low, high] = std::ranges::minmax(x);
  const float scale = (std::max(high, 0.0f) - std::min(low, 0.0f)) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-std::min(low, 0.0f) / scale, 0.0f, 255.0f));
  std::vector<float> result(kRows * kOutputs);
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t output = 0; output < kOutputs; ++output) {
      std::int64_t sum = 0;
      for (std::size_t input = 0; input < kInputs; ++input) {
        const std::size_t at = rows ? output * kInputs + input : input * kOutputs + output;
        const auto stored = static_cast<std::int64_t>(
            scheme.is_signed ? static_cast<std::int8_t>(rounded.values[at])
                             : std::to_integer<std::int64_t>(rounded.values[at]));
        const float steps = std::nearbyint(x[row * kInputs + input] / scale) + zero;
        const float activation = std::clamp(steps, 0.0f, 255.0f) - zero;
        sum += static_cast<std::int64_t>(activation) * (stored - scheme.zero_point());
      }
      result[row * kOutputs + output] =
          static_cast<float>(sum) * (scale * rounded.scales[scheme.per_channel ? output : 0]);
    }
  return result;
}

// The values are small enough that no processor's sums of two products overflow.
TEST(IntegerOperators, GiveWhatTheirDefinitionSays) {
  const std::vector<float> x = numbers(kRows * kInputs, 1);
  std::vector<float> weights = numbers(kInputs * kOutputs, 2);
  for (const Orientation orientation : {Orientation::kRows, Orientation::kColumns})
    for (const bool is_signed : {true, false})
      for (const bool per_channel : {true, false}) {
        const IntegerScheme scheme{is_signed, per_channel, true};
        quantize::DynamicInt8Scheme dynamic(scheme, {});
        const std::vector<float> expected = by_definition(x, weights, orientation, scheme);
        const std::vector<float> got =
            run(dynamic.rewrite(product(orientation, weights), "g.onnx"), x);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], expected[i], 1e-4f) << quantize::describe(scheme) << " " << i;
      }
}

TEST(IntegerOperators, StayCloseToTheFloatProduct) {
  const std::vector<float> x = numbers(kRows * kInputs, 3);
  const std::vector<float> weights = numbers(kInputs * kOutputs, 4);
  const graph::Model model = product(Orientation::kColumns, weights);
  quantize::DynamicInt8Scheme dynamic({.is_signed = false}, {});
  const std::vector<float> expected = run(model, x);
  const std::vector<float> got = run(dynamic.rewrite(model, "g.onnx"), x);
  ASSERT_EQ(got.size(), expected.size());
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2.0);
    norm += std::pow(static_cast<double>(expected[i]), 2.0);
  }
  EXPECT_LT(std::sqrt(error / norm), 0.01);
  EXPECT_GT(error, 0.0);
}

}  // namespace
}  // namespace sampan::tune
