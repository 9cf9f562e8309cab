#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "optimizer/projection.h"

namespace sampan::optimizer {
namespace {

using graph::GraphBuilder;
using graph::Initializer;
using graph::Operator;
using graph::Value;
using tensor::DType;

/// Values of 8 bits reach from -127 to 127: symmetric, so that no zero point is needed.
constexpr float kLargest = 127.0f;
constexpr std::int64_t kFloat = 1;  ///< ONNX's number of the type
/// Activations are unsigned, as the processor's instructions want one side to be.
constexpr std::byte kActivationZero{128};
constexpr std::byte kWeightZero{0};

/// A matrix [outputs, inputs] with one scale an output.
struct Int8Matrix {
  std::vector<std::int8_t> values;
  std::vector<float> scales;
};

/// `stride` lies between neighbours of one output, outputs begin at weights[output * step].
struct Places {
  std::size_t outputs = 0;
  std::size_t inputs = 0;
  std::size_t step = 0;
  std::size_t stride = 0;
};

/// Rounds to the layout of `weights`.
Int8Matrix round_outputs(const std::vector<float>& weights, const Places& places,
                         const std::string& name) {
  Int8Matrix matrix{std::vector<std::int8_t>(weights.size()), std::vector<float>(places.outputs)};
  for (std::size_t output = 0; output < places.outputs; ++output) {
    float extreme = 0.0f;
    for (std::size_t i = 0; i < places.inputs; ++i) {
      const float weight = weights[output * places.step + i * places.stride];
      if (!std::isfinite(weight))
        base::fail(ErrorCode::kInvalidData,
                   "weight '{}' holds {}, which 8 bits cannot store; export the package again",
                   name, weight);
      extreme = std::max(extreme, std::fabs(weight));
    }
    const float scale = extreme / kLargest;
    matrix.scales[output] = scale;
    for (std::size_t i = 0; i < places.inputs; ++i) {
      const std::size_t at = output * places.step + i * places.stride;
      const float steps = scale == 0.0f ? 0.0f : std::nearbyint(weights[at] / scale);
      matrix.values[at] = static_cast<std::int8_t>(std::clamp(steps, -kLargest, kLargest));
    }
  }
  return matrix;
}

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Integer products of matrices in 8 bits. Activations are rounded with a scale for each row, so
/// that a row does not depend on its neighbours, and sums of integers are exact, so that a row does
/// not depend on how many there are either.
class Int8RowsProjection final : public Projection {
 public:
  explicit Int8RowsProjection(const PortableWeights& weights) : weights_(weights) {}

  Value linear(GraphBuilder& g, const Value& x, const Linear& linear) override {
    const std::string& name = linear.name;
    const auto outputs = static_cast<std::size_t>(joined_bias(weights_, linear).shape.front());
    const std::vector<float> joined = joined_weight(weights_, linear);
    const std::size_t inputs = joined.size() / outputs;
    Int8Matrix matrix = round_outputs(joined, {outputs, inputs, 1, outputs}, name);
    const Value weight =
        g.weight({name + ".weight.int8",
                  DType::kI8,
                  {static_cast<std::int64_t>(inputs), static_cast<std::int64_t>(outputs)},
                  bytes_of(matrix.values)});
    const Value scales = g.weight({name + ".weight.scales",
                                   DType::kF32,
                                   {static_cast<std::int64_t>(outputs)},
                                   bytes_of(matrix.scales)});
    return g.node("Add", {product(g, x, weight, scales), g.weight(joined_bias(weights_, linear))});
  }

  Value embed(GraphBuilder& g, const Value& ids, const Initializer& table, float scale) override {
    const Table& rounded = table_of(table);
    Initializer scales = rounded.scales;
    scales.name = fmt::format("{}.embedding_scales", table.name);
    scales.shape.push_back(1);
    scales.data =
        graph::DataSource([values = rounded.scale_values, scale](std::span<std::byte> out) {
          std::vector<float> scaled = *values;
          for (float& value : scaled) value *= scale;
          std::memcpy(out.data(), scaled.data(), out.size());
        });
    const graph::Attributes first_axis = {{"axis", std::int64_t{0}}};
    const Value rows = g.node("Gather", {g.weight(rounded.values), ids}, first_axis);
    return g.node("Mul", {g.node("Cast", {rows}, {{"to", kFloat}}),
                          g.node("Gather", {g.weight(scales), ids}, first_axis)});
  }

  Value logits(GraphBuilder& g, const Value& states) override {
    const Table& table = table_of(weights_.output_projection());
    // The runtime transposes it once, when it loads: the table is stored once for both uses.
    const Value weight =
        g.node("Transpose", {g.weight(table.values)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    const Value values = product(g, states, weight, g.weight(table.scales));
    const auto bias = logits_bias(weights_);
    return bias ? g.node("Add", {values, g.weight(*bias)}) : values;
  }

 private:
  /// A rounded table [vocabulary, d_model].
  struct Table {
    Initializer values;
    Initializer scales;  ///< [vocabulary]
    std::shared_ptr<const std::vector<float>> scale_values;
  };

  const Table& table_of(const Initializer& source) {
    if (const auto found = tables_.find(source.name); found != tables_.end()) return found->second;
    const auto rows = static_cast<std::size_t>(source.shape[0]);
    const auto width = static_cast<std::size_t>(source.shape[1]);
    const auto matrix = std::make_shared<const Int8Matrix>(
        round_outputs(floats_of(source), {rows, width, width, 1}, source.name));
    const auto borrow = [&](const auto& values) {
      return graph::BorrowedBytes{std::as_bytes(std::span(values)), matrix};
    };
    Table table;
    table.values = {source.name + ".int8", DType::kI8, source.shape, borrow(matrix->values)};
    table.scales = {
        source.name + ".scales", DType::kF32, {source.shape[0]}, borrow(matrix->scales)};
    table.scale_values = {matrix, &matrix->scales};
    return tables_.emplace(source.name, std::move(table)).first->second;
  }

  /// x [..., in] times a rounded matrix [in, out].
  static Value product(GraphBuilder& g, const Value& x, const Value& weight, const Value& scales) {
    const Value extreme = g.node("ReduceMax", {g.node("Abs", {x}), g.int_vector({-1})},
                                 {{"keepdims", std::int64_t{1}}});
    // A row of zeros gives NaN here, some integer behind it, and zero again at the end.
    const Value step = g.float_scalar(1.0f / kLargest);
    const Value zero = g.weight({"activation_zero", DType::kU8, {}, std::vector{kActivationZero}});
    const Value rounded = g.node("QuantizeLinear", {g.node("Div", {x, extreme}), step, zero});
    const Value weight_zero = g.weight({"weight_zero", DType::kI8, {}, std::vector{kWeightZero}});
    const Value sums = g.node(Operator(kMicrosoft, "MatMulIntegerToFloat"),
                              {rounded, weight, step, scales, zero, weight_zero});
    return g.node("Mul", {sums, extreme});
  }

  const PortableWeights& weights_;
  std::map<std::string, Table> tables_;
};

}  // namespace

std::unique_ptr<Projection> make_int8_rows_projection(const PortableWeights& weights) {
  return std::make_unique<Int8RowsProjection>(weights);
}

}  // namespace sampan::optimizer
