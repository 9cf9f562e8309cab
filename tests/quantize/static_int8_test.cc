#include "quantize/static_int8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/checker.h"
#include "graph/text_dump.h"
#include "quantize/float_weights.h"
#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

using graph::Model;
using test::model_of;
using test::weight;
using ::testing::HasSubstr;
using ::testing::Not;

std::string rewritten(const Model& model, const ActivationRanges& ranges,
                      const IntegerScheme& scheme = {}) {
  const Model result = StaticInt8Scheme(scheme, ranges, "minmax", {}).rewrite(model, "g.onnx");
  graph::check_model(result);
  return graph::to_text(result.graph);
}

TEST(StaticInt8, SurroundsAProductWithRounding) {
  const Model model = model_of(
      {weight("w", {4, 3}), weight("b", {3})},
      {{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}}, {"Add", "", "a", {"b", "xw"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(model, {{"w", {-1.0f, 4.1f}}}), R"(graph g
  input ids: I64 ?
  input x: F32 ?
  weight b: F32 [3]
  weight w.input_scale: F32 [] = {0.02}
  weight w.input_zero_point: U8 []
  weight w.int8: I8 [4, 3]
  weight w.scales: F32 [3]
  weight w.zero_points: I8 [3]
  xw/input/QuantizeLinear = QuantizeLinear(x, w.input_scale, w.input_zero_point)
  xw/input/DequantizeLinear = DequantizeLinear(xw/input/QuantizeLinear, w.input_scale, w.input_zero_point)
  xw/weight/DequantizeLinear = DequantizeLinear(w.int8, w.scales, w.zero_points) axis=1
  xw = MatMul(xw/input/DequantizeLinear, xw/weight/DequantizeLinear)  # m
  y = Add(b, xw)  # a
  output y: F32 ?
)");
}

// The runtime made a Gemm of the product and its bias, for which it has no integer form: the whole
// table was turned into fp32 in every step.
TEST(StaticInt8, KeepsTheBiasOfAGemmApart) {
  const std::string text = rewritten(
      model_of({weight("w", {4, 3}), weight("b", {1, 3})},
               {{"Gemm", "", "l", {"x", "w", "b"}, {"y"}, {}}}),
      {{"w", {0.0f, 1.0f}}});
  EXPECT_THAT(text, HasSubstr("weight w.apart: I64 [1] = {0}"));
  EXPECT_THAT(text, HasSubstr("y/Unsqueeze = Unsqueeze(x, w.apart)"));
  EXPECT_THAT(text, HasSubstr("y/input/QuantizeLinear = QuantizeLinear(y/Unsqueeze, "));
  EXPECT_THAT(text, HasSubstr("y/Add = Add(y/MatMul, b.flat)"));
  EXPECT_THAT(text, HasSubstr("y = Squeeze(y/Add, w.apart)  # l"));
}

TEST(StaticInt8, SharesTheTableAndTheRoundingOfOneInput) {
  const Model model =
      model_of({weight("table", {7, 4}), weight("k", {4, 4}), weight("q", {4, 4})},
               {{"Gather", "", "g", {"table", "ids"}, {"rows"}, {}},
                {"MatMul", "", "1", {"rows", "q"}, {"xq"}, {}},
                {"MatMul", "", "2", {"rows", "k"}, {"xk"}, {}},
                {"Mul", "", "3", {"xq", "xk"}, {"xx"}, {}},
                {"Gemm", "", "l", {"xx", "table"}, {"y"}, {{"transB", std::int64_t{1}}}}});
  const std::string text =
      rewritten(model, {{"q", {0.0f, 1.0f}}, {"k", {0.0f, 1.0f}}, {"table", {-1.0f, 1.0f}}},
                {.is_signed = true, .per_channel = false});
  EXPECT_THAT(text, Not(HasSubstr("xk/input/QuantizeLinear")));
  EXPECT_THAT(text,
              HasSubstr("xk = MatMul(xq/input/DequantizeLinear, xk/weight/DequantizeLinear)"));
  EXPECT_THAT(text, HasSubstr("rows/Gather = Gather(table.rows.int8, ids) axis=0"));
  EXPECT_THAT(text, HasSubstr("y/Transpose = Transpose(table.rows.int8) perm=[1, 0]"));
  EXPECT_THAT(text, HasSubstr("y/weight/DequantizeLinear = DequantizeLinear(y/Transpose, "
                              "table.rows.scales, table.rows.zero_point)\n"));
}

TEST(StaticInt8, NamesAWeightThatTheTextNeverReached) {
  const Model model = model_of({weight("w", {4, 3})}, {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}});
  const Error error = test::caught_error([&] { rewritten(model, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("'w'"));
}

TEST(StaticInt8, ListsTheInputsOfProductsAlone) {
  const Model model =
      model_of({weight("table", {7, 4}), weight("w", {4, 4}), weight("b", {4})},
               {{"Gather", "", "g", {"table", "ids"}, {"rows"}, {}},
                {"MatMul", "", "1", {"rows", "w"}, {"xw"}, {}},
                {"Add", "", "2", {"xw", "b"}, {"xwb"}, {}},
                {"MatMul", "", "3", {"xwb", "xwb"}, {"s"}, {}},
                {"Gemm", "", "l", {"s", "table"}, {"y"}, {{"transB", std::int64_t{1}}}}});
  const std::vector<ProductInput> products = product_inputs(model.graph);
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[0].weight, "w");
  EXPECT_EQ(products[0].value, "rows");
  EXPECT_EQ(products[1].weight, "table");
  EXPECT_EQ(products[1].value, "s");
}

TEST(StaticInt8, SaysWhatItIs) {
  EXPECT_EQ(StaticInt8Scheme({}, {}, "entropy", {}).record().name,
            "static-int8-per-channel-entropy");
}

TEST(ActivationScale, SpansTheRangeAndStoresZeroExactly) {
  const struct {
    ActivationRange range;
    float scale;
    int zero_point;
  } cases[] = {{{-1.0f, 4.1f}, 0.02f, 50},
               {{2.0f, 5.1f}, 0.02f, 0},
               {{-5.1f, -2.0f}, 0.02f, 255},
               {{-2.55f, 2.55f}, 0.02f, 128},
               {{0.0f, 0.0f}, 1.0f, 0}};
  for (const auto& c : cases) {
    EXPECT_FLOAT_EQ(scale_of(c.range).scale, c.scale);
    EXPECT_EQ(scale_of(c.range).zero_point, c.zero_point) << c.range.low;
  }
}

}  // namespace
}  // namespace sampan::quantize
