#include "quantize/half_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/text_dump.h"
#include "quantize/float_weights.h"
#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Model;
using graph::Node;
using test::floats;
using test::model_of;
using test::weight;
using ::testing::HasSubstr;
using ::testing::Not;

Model converted(const Model& model, const KeepFloat& keep_float = {}) {
  Model result = HalfPrecisionScheme(keep_float).rewrite(model, "g.onnx");
  graph::check_model(result);
  return result;
}

std::string rewritten(const Model& model, const KeepFloat& keep_float = {}) {
  return graph::to_text(converted(model, keep_float).graph);
}

std::vector<float> halves_of(const Model& model, const std::string& name) {
  for (const graph::Initializer& initializer : model.graph.initializers) {
    if (initializer.name != name) continue;
    std::vector<std::byte> bytes(graph::byte_size(initializer));
    graph::copy_bytes(initializer, bytes);
    std::vector<float> values(bytes.size() / 2);
    tensor::to_floats({tensor::DType::kF16, initializer.shape, bytes}, values);
    return values;
  }
  ADD_FAILURE() << "no initializer " << name;
  return {};
}

TEST(HalfPrecision, CastsAtTheBordersAndAroundWhatNeedsTheRange) {
  const Model model = model_of({weight("w", {4, 4}), weight("b", {4})},
                               {{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}},
                                {"Add", "", "a", {"xw", "b"}, {"xwb"}, {}},
                                {"Softmax", "", "s", {"xwb"}, {"p"}, {}},
                                {"Mul", "", "n", {"p", "xwb"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(model), R"(graph g
  input ids: I64 ?
  input x: F32 ?
  weight w.fp16: F16 [4, 4]
  weight b.fp16: F16 [4]
  x.fp16 = Cast(x) to=10
  xw = MatMul(x.fp16, w.fp16)  # m
  xwb = Add(xw, b.fp16)  # a
  xwb.fp32 = Cast(xwb) to=1
  p = Softmax(xwb.fp32)  # s
  p.fp16 = Cast(p) to=10
  y.fp16 = Mul(p.fp16, xwb)  # n
  y = Cast(y.fp16) to=1
  output y: F32 ?
)");
}

TEST(HalfPrecision, KeepsWhatItCannotHold) {
  const Model model = model_of(
      {floats("large", {2}, {1.0f, 70000.0f}), weight("kept", {2})},
      {{"Mul", "", "1", {"x", "large"}, {"a"}, {}}, {"Mul", "", "2", {"a", "kept"}, {"y"}, {}}});
  const std::string text = rewritten(model, [](const std::string& name) { return name == "kept"; });
  EXPECT_EQ(text, graph::to_text(model.graph));
}

TEST(HalfPrecision, MakesMasksOfItsOwnLowestNumber) {
  const float lowest = std::numeric_limits<float>::lowest();
  Model model = model_of({floats("zero", {}, {0.0f}), floats("lowest", {}, {lowest})},
                         {{"Equal", "", "1", {"ids", "ids"}, {"same"}, {}},
                          {"Where", "", "2", {"same", "zero", "lowest"}, {"mask"}, {}},
                          {"Add", "", "3", {"x", "mask"}, {"y"}, {}}});
  const Model half = converted(model);
  EXPECT_THAT(graph::to_text(half.graph), HasSubstr("mask = Where(same, zero.fp16, lowest.fp16)"));
  EXPECT_EQ(halves_of(half, "lowest.fp16"), std::vector<float>{-kLargestHalf});
}

TEST(HalfPrecision, LeavesNumbersOfOtherTypesAlone) {
  const Model model =
      model_of({weight("table", {5, 4})},
               {{"Shape", "", "1", {"ids"}, {"shape"}, {}},
                {"Concat", "", "2", {"shape", "shape"}, {"twice"}, {{"axis", std::int64_t{0}}}},
                {"Gather", "", "3", {"table", "ids"}, {"rows"}, {}},
                {"Reshape", "", "4", {"rows", "twice"}, {"y"}, {}}});
  const std::string text = rewritten(model);
  EXPECT_THAT(text, HasSubstr("twice = Concat(shape, shape) axis=0"));
  EXPECT_THAT(text, HasSubstr("rows = Gather(table.fp16, ids)"));
  EXPECT_THAT(text, HasSubstr("y.fp16 = Reshape(rows, twice)"));
  EXPECT_THAT(text, Not(HasSubstr("ids.fp16")));
}

// Both branches cast the same value of the graph around them, under names of their own.
TEST(HalfPrecision, ReachesIntoBranches) {
  const auto branch = [](const std::string& name) {
    Graph graph;
    graph.name = name;
    graph.nodes = {{"MatMul", "", name + "/m", {"x", "w"}, {name + "/y"}, {}}};
    graph.outputs = {{name + "/y", tensor::DType::kF32, std::nullopt}};
    return std::make_shared<const Graph>(std::move(graph));
  };
  Model model = model_of({weight("w", {4, 4})}, {});
  model.graph.inputs.push_back({"use", tensor::DType::kBool, std::vector<graph::Dim>{}});
  model.graph.nodes = {{"If",
                        "",
                        "if",
                        {"use"},
                        {"y"},
                        {{"then_branch", branch("a")}, {"else_branch", branch("b")}}}};
  const std::string text = rewritten(model);
  EXPECT_THAT(text, HasSubstr("  weight w.fp16: F16 [4, 4]"));
  EXPECT_THAT(text, HasSubstr("a/y = Cast(a/y.fp16) to=1"));
  EXPECT_THAT(text, HasSubstr("b/x.fp16 = Cast(x) to=10"));
  EXPECT_THAT(text, Not(HasSubstr("weight w: ")));
}

TEST(HalfPrecision, RefusesWeightsThatAreNoNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Model model =
      model_of({floats("w", {1, 2}, {1.0f, nan})}, {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}});
  EXPECT_EQ(test::caught_error([&] { converted(model); }).code(), ErrorCode::kInvalidData);
}

}  // namespace
}  // namespace sampan::quantize
