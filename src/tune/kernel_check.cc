#include "tune/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/fail.h"
#include "graph/onnx_writer.h"
#include "quantize/block_operators.h"
#include "session/graph_runner.h"

namespace sampan::tune {
namespace {

using quantize::BlockWeights;

/// Rounding the input to 8 bits a block costs about 0.006 of the result's norm; a kernel that
/// saturates or misreads a block is off by far more.
constexpr double kMostError = 0.03;
/// The last bit of a float, as a share of it.
constexpr float kMostRowError = 1e-6f;
/// TensorProto.DataType of onnx.proto.
constexpr std::int64_t kOnnxInt64 = 7;

/// Inputs like those of a layer: both signs, no pattern that repeats with the blocks.
std::vector<float> sample_input(std::int64_t rows, std::int64_t columns) {
  std::vector<float> input(static_cast<std::size_t>(rows * columns));
  double phase = 0.0;
  for (float& value : input) {
    phase = std::fmod(phase + std::numbers::phi, 1.0);
    value = static_cast<float>(2.0 * std::cos(2.0 * std::numbers::pi * phase) + phase - 0.5);
  }
  return input;
}

/// A model of one operator between `x` and `y`.
graph::Model operator_model(quantize::BlockOperator made, std::vector<graph::Dim> input,
                            std::vector<graph::Dim> output) {
  graph::Model model;
  model.opset_imports = {{"", 17}};
  quantize::import_microsoft_domain(model);
  model.graph.name = "operator";
  model.graph.inputs = {{"x", tensor::DType::kF32, std::move(input)}};
  model.graph.outputs = {{"y", tensor::DType::kF32, std::move(output)}};
  model.graph.initializers = std::move(made.initializers);
  model.graph.nodes = {std::move(made.node)};
  return model;
}

std::vector<float> run(const graph::Model& model, const std::vector<float>& input,
                       const std::vector<std::int64_t>& shape) {
  std::vector<std::byte> bytes;
  graph::write_model(model, [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  session::SessionOptions options;
  options.intra_op_threads = 1;
  const session::GraphRunner runner(bytes, "the check of an operator", options);
  const std::vector<session::NamedTensor> inputs = {{"x", shape, input}};
  const std::vector<std::string> outputs = {"y"};
  return std::get<std::vector<float>>(runner.run(inputs, outputs).front().data);
}

/// Distance of the runtime's product from the plain one, as a share of the latter's norm.
double relative_error(const BlockWeights& weights, const std::vector<float>& input,
                      const std::vector<float>& product) {
  const auto columns = static_cast<std::size_t>(weights.columns);
  const auto outputs = static_cast<std::size_t>(weights.rows);
  std::vector<float> row(columns);
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t output = 0; output < outputs; ++output) {
    quantize::dequantize_row(weights, static_cast<std::int64_t>(output), row);
    for (std::size_t sample = 0; sample * columns < input.size(); ++sample) {
      double expected = 0.0;
      for (std::size_t i = 0; i < columns; ++i)
        expected += static_cast<double>(row[i]) * static_cast<double>(input[sample * columns + i]);
      const double error = static_cast<double>(product[sample * outputs + output]) - expected;
      difference += error * error;
      norm += expected * expected;
    }
  }
  if (norm == 0.0) return difference == 0.0 ? 0.0 : 1.0;
  return std::sqrt(difference / norm);
}

void check_product(const std::string& name, const std::shared_ptr<const BlockWeights>& weights) {
  const std::string axis = "rows";
  const graph::Model model =
      operator_model(quantize::block_product({"product", "weight", "x", "y"}, weights),
                     {axis, weights->columns}, {axis, weights->rows});
  for (const std::int64_t rows : {1, 5}) {
    const std::vector<float> input = sample_input(rows, weights->columns);
    const std::vector<float> product = run(model, input, {rows, weights->columns});
    const auto expected = static_cast<std::size_t>(rows * weights->rows);
    const double error =
        product.size() == expected ? relative_error(*weights, input, product) : 1.0;
    if (!(error <= kMostError))
      base::fail(ErrorCode::kUnsupported,
                 "weight '{}': this ONNX Runtime is {:.3f} off in products with {} rows of {}-bit "
                 "blocks of {}; choose another --block-size or --scheme",
                 name, error, rows, weights->scheme.bits, weights->scheme.block_size);
  }
}

/// Rows are dequantised without rounding anything: they must be the stored ones.
void check_gather(const std::string& name, const std::shared_ptr<const BlockWeights>& weights) {
  graph::Model model =
      operator_model(quantize::block_gather({"gather", "weight", "ids", "y"}, weights),
                     {std::string("ids")}, {std::string("ids"), weights->columns});
  model.graph.nodes.insert(model.graph.nodes.begin(),
                           graph::Node{"Cast", "", "ids", {"x"}, {"ids"}, {{"to", kOnnxInt64}}});
  const std::vector<std::int64_t> ids = {0, weights->rows / 2, weights->rows - 1};
  const std::vector<float> rows =
      run(model, {ids.begin(), ids.end()}, {static_cast<std::int64_t>(ids.size())});
  std::vector<float> expected(static_cast<std::size_t>(weights->columns));
  bool same = rows.size() == ids.size() * expected.size();
  for (std::size_t i = 0; same && i < ids.size(); ++i) {
    quantize::dequantize_row(*weights, ids[i], expected);
    const auto row = std::span(rows).subspan(i * expected.size(), expected.size());
    same = std::ranges::equal(row, expected, [](float a, float b) {
      return std::fabs(a - b) <= kMostRowError * std::fabs(b);
    });
  }
  if (!same)
    base::fail(
        ErrorCode::kUnsupported,
        "table '{}': this ONNX Runtime reads other rows than were stored in {}-bit blocks of "
        "{}; choose another --block-size or --scheme",
        name, weights->scheme.bits, weights->scheme.block_size);
}

}  // namespace

void check_kernels(const quantize::WeightStore& store) {
  std::set<std::tuple<quantize::Orientation, std::int64_t, std::int64_t, quantize::BlockScheme>>
      seen;
  for (const auto& [key, entry] : store.entries()) {
    const BlockWeights& weights = *entry.weights;
    const auto orientation = std::get<quantize::Orientation>(key);
    if (!seen.emplace(orientation, weights.rows, weights.columns, weights.scheme).second) continue;
    check_product(entry.source.name, entry.weights);
    if (orientation == quantize::Orientation::kRows) check_gather(entry.source.name, entry.weights);
  }
}

}  // namespace sampan::tune
