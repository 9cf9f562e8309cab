#include "quantize/dynamic_int8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/checker.h"
#include "graph/text_dump.h"
#include "quantize/float_weights.h"

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Model;
using graph::Node;
using test::model_of;
using test::weight;
using ::testing::HasSubstr;
using ::testing::Not;

std::string rewritten(const Model& model, const IntegerScheme& scheme = {},
                      const KeepFloat& keep_float = {}) {
  const Model result = DynamicInt8Scheme(scheme, keep_float).rewrite(model, "g.onnx");
  graph::check_model(result);
  return graph::to_text(result.graph);
}

TEST(DynamicInt8, RoundsTheActivationsOfAProduct) {
  const Model model = model_of(
      {weight("w", {4, 3}), weight("b", {3})},
      {{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}}, {"Add", "", "a", {"b", "xw"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(model), R"(graph g
  input ids: I64 ?
  input x: F32 ?
  weight b: F32 [3]
  weight w.int8: I8 [4, 3]
  weight w.scales: F32 [3]
  xw/DynamicQuantizeLinear, xw/DynamicQuantizeLinear.scale, xw/DynamicQuantizeLinear.zero_point = DynamicQuantizeLinear(x)
  xw/MatMulInteger = MatMulInteger(xw/DynamicQuantizeLinear, w.int8, xw/DynamicQuantizeLinear.zero_point)
  xw/Cast = Cast(xw/MatMulInteger) to=1
  xw/scales/Mul = Mul(xw/DynamicQuantizeLinear.scale, w.scales)
  xw = Mul(xw/Cast, xw/scales/Mul)  # m
  y = Add(b, xw)  # a
  output y: F32 ?
)");
}

TEST(DynamicInt8, RoundsOnceWhatSeveralProductsTake) {
  const std::string text = rewritten(model_of({weight("q", {4, 4}), weight("k", {4, 4})},
                                              {{"MatMul", "", "1", {"x", "q"}, {"xq"}, {}},
                                               {"MatMul", "", "2", {"x", "k"}, {"xk"}, {}},
                                               {"Mul", "", "3", {"xq", "xk"}, {"y"}, {}}}));
  EXPECT_THAT(text, Not(HasSubstr("xk/DynamicQuantizeLinear")));
  EXPECT_THAT(text, HasSubstr("MatMulInteger(xq/DynamicQuantizeLinear, k.int8, "
                              "xq/DynamicQuantizeLinear.zero_point)"));
}

TEST(DynamicInt8, SharesTheTableOfEmbeddingAndOutput) {
  const Model model =
      model_of({weight("table", {7, 4}), weight("b", {1, 7})},
               {{"Gather", "", "g", {"table", "ids"}, {"rows"}, {}},
                {"Gemm", "", "l", {"rows", "table", "b"}, {"y"}, {{"transB", std::int64_t{1}}}}});
  const std::string text = rewritten(model, {.is_signed = false});
  EXPECT_THAT(text, HasSubstr("weight table.rows.int8: U8 [7, 4]"));
  EXPECT_THAT(text, HasSubstr("rows/Gather = Gather(table.rows.int8, ids) axis=0"));
  EXPECT_THAT(text, HasSubstr("rows/Sub = Sub(rows/Cast, table.rows.real_zero_point)"));
  EXPECT_THAT(text, HasSubstr("rows/scales/Gather = Gather(table.rows.row_scales, ids) axis=0"));
  EXPECT_THAT(text, HasSubstr("rows = Mul(rows/Sub, rows/scales/Gather)  # g"));
  EXPECT_THAT(text, HasSubstr("y/Transpose = Transpose(table.rows.int8) perm=[1, 0]"));
  EXPECT_THAT(text, HasSubstr("MatMulInteger(y/DynamicQuantizeLinear, y/Transpose, "
                              "y/DynamicQuantizeLinear.zero_point, table.rows.zero_point)"));
  EXPECT_THAT(text, HasSubstr("y = Add(y/Mul, b.flat)  # l"));
  EXPECT_THAT(text, Not(HasSubstr("weight table: ")));
}

TEST(DynamicInt8, TakesOneScaleAWeight) {
  const std::string text = rewritten(
      model_of({weight("table", {7, 4})}, {{"Gather", "", "g", {"table", "ids"}, {"y"}, {}}}),
      {.per_channel = false});
  EXPECT_THAT(text, HasSubstr("weight table.rows.scales: F32 [] ="));
  EXPECT_THAT(text, HasSubstr("y = Mul(y/Cast, table.rows.scales)"));
}

TEST(DynamicInt8, LeavesWhatIsKeptAndWhatIsNoWeight) {
  for (const Node& node :
       std::vector<Node>{{"MatMul", "", "n", {"x", "kept"}, {"y"}, {}},
                         {"MatMul", "", "n", {"x", "x"}, {"y"}, {}},
                         {"MatMul", "", "n", {"kept", "x"}, {"y"}, {}},
                         {"Gather", "", "n", {"kept", "computed"}, {"y"}, {}},
                         {"Gemm", "", "n", {"x", "kept"}, {"y"}, {{"beta", 2.0f}}}}) {
    const Model model =
        model_of({weight("kept", {4, 4})}, {{"Neg", "", "c", {"ids"}, {"computed"}, {}}, node});
    EXPECT_EQ(rewritten(model, {}, [](const std::string& name) { return name == "kept"; }),
              graph::to_text(model.graph));
  }
}

// The weight lies around the branches, and each of them rounds its own activations.
TEST(DynamicInt8, ReachesIntoBranches) {
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
  EXPECT_THAT(text, HasSubstr("  weight w.int8: I8 [4, 4]"));
  for (const std::string name : {"a", "b"})
    EXPECT_THAT(text, HasSubstr(name + "/y/DynamicQuantizeLinear.zero_point = "));
  EXPECT_THAT(text, Not(HasSubstr("weight w: ")));
}

TEST(DynamicInt8, SaysWhatItIs) {
  const SchemeRecord record = DynamicInt8Scheme({}, {}).record();
  EXPECT_EQ(record.name, "dynamic-int8-per-channel");
  EXPECT_EQ(record.precision, "int8");
  EXPECT_EQ(DynamicInt8Scheme({false, false, true}, {}).record().name,
            "dynamic-int8-per-tensor-unsigned-reduced-range");
}

}  // namespace
}  // namespace sampan::quantize
