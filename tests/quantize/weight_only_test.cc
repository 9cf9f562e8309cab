#include "quantize/weight_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/checker.h"
#include "graph/text_dump.h"
#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Initializer;
using graph::Model;
using graph::Node;
using tensor::DType;
using ::testing::HasSubstr;
using ::testing::Not;

Initializer weight(const std::string& name, tensor::Shape shape, float first = 1.0f) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = first + static_cast<float>(i % 13) * 0.25f - 2.0f;
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, DType::kF32, std::move(shape), std::move(bytes)};
}

Model model_of(std::vector<Initializer> weights, std::vector<Node> nodes) {
  Model model;
  model.opset_imports = {{"", 17}};
  model.graph.name = "g";
  model.graph.inputs = {{"ids", DType::kI64, std::nullopt}, {"x", DType::kF32, std::nullopt}};
  model.graph.outputs = {{"y", DType::kF32, std::nullopt}};
  model.graph.initializers = std::move(weights);
  model.graph.nodes = std::move(nodes);
  return model;
}

SchemeChoice always(BlockScheme scheme) {
  return [scheme](const std::string&) { return std::optional(scheme); };
}

std::string rewritten(const Model& model, const SchemeChoice& choose = always({8, 32, true})) {
  WeightStore store;
  const Model result = quantize_weights(model, store, choose);
  graph::check_model(result);
  return graph::to_text(result.graph);
}

TEST(QuantizeWeights, TurnsAProductAndItsBiasIntoOneNode) {
  const Model model = model_of(
      {weight("w", {64, 5}), weight("b", {5})},
      {{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}}, {"Add", "", "a", {"b", "xw"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(model),
            R"(graph g
  input ids: I64 ?
  input x: F32 ?
  weight b: F32 [5]
  weight w.int8: U8 [5, 2, 32]
  weight w.int8.scales: F32 [5, 2]
  y = com.microsoft.MatMulNBits(x, w.int8, w.int8.scales, , , b) K=64 N=5 accuracy_level=4 bits=8 block_size=32  # m
  output y: F32 ?
)");
}

TEST(QuantizeWeights, LeavesAnAddThatOthersReadOrThatIsNoBias) {
  const std::vector<Initializer> weights = {weight("w", {32, 4}), weight("b", {4}),
                                            weight("scalar", {1})};
  const Node product{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}};
  // The product itself is read a second time.
  EXPECT_THAT(rewritten(model_of(weights, {product,
                                           {"Add", "", "a", {"xw", "b"}, {"sum"}, {}},
                                           {"Mul", "", "n", {"sum", "xw"}, {"y"}, {}}})),
              HasSubstr("sum = Add(xw, b)"));
  // One number for all columns, the input, and the product added to itself.
  for (const char* other : {"scalar", "x", "xw"})
    EXPECT_THAT(rewritten(model_of(weights, {product, {"Add", "", "a", {"xw", other}, {"y"}, {}}})),
                HasSubstr(std::string("y = Add(xw, ") + other + ")"));
}

TEST(QuantizeWeights, SharesTheTableOfEmbeddingAndOutput) {
  const Model model =
      model_of({weight("table", {7, 32}), weight("b", {1, 7})},
               {{"Gather", "", "g", {"table", "ids"}, {"rows"}, {}},
                {"Gemm", "", "l", {"rows", "table", "b"}, {"y"}, {{"transB", std::int64_t{1}}}}});
  WeightStore store;
  const Model result = quantize_weights(model, store, always({4, 32, false}));
  graph::check_model(result);
  EXPECT_EQ(store.entries().size(), 1u);
  const std::string text = graph::to_text(result.graph);
  EXPECT_THAT(text,
              HasSubstr("rows = com.microsoft.GatherBlockQuantized(table.rows.int4.table, ids, "
                        "table.rows.int4.scales, table.rows.int4.zero_points)"));
  EXPECT_THAT(text, HasSubstr("y = com.microsoft.MatMulNBits(rows, table.rows.int4, "
                              "table.rows.int4.scales, table.rows.int4.zero_points, , b.flat)"));
  EXPECT_THAT(text, Not(HasSubstr("weight table:")));
  const auto bytes_named = [&](const std::string& name) {
    for (const Initializer& initializer : result.graph.initializers)
      if (initializer.name == name)
        return std::get<graph::BorrowedBytes>(initializer.data).bytes.data();
    return static_cast<const std::byte*>(nullptr);
  };
  ASSERT_NE(bytes_named("table.rows.int4"), nullptr);
  EXPECT_EQ(bytes_named("table.rows.int4"), bytes_named("table.rows.int4.table"));
}

// A table of positions is looked up by numbers that the graph computes; it is small and exact.
TEST(QuantizeWeights, LeavesWhatIsNoWeightOfALayer) {
  const Initializer table = weight("w", {32, 32});
  const Initializer three_axes = weight("w", {2, 32, 32});
  const Node cases[] = {
      {"Gather", "", "n", {"w", "computed"}, {"y"}, {}},
      {"Gather", "", "n", {"w", "ids"}, {"y"}, {{"axis", std::int64_t{1}}}},
      {"MatMul", "", "n", {"w", "x"}, {"y"}, {}},
      {"Gemm", "", "n", {"x", "w"}, {"y"}, {{"transA", std::int64_t{1}}}},
      {"Gemm", "", "n", {"x", "w"}, {"y"}, {{"alpha", 0.5f}}},
      {"Gemm", "", "n", {"x", "w", "x"}, {"y"}, {}},
      {"MatMul", "other", "n", {"x", "w"}, {"y"}, {}},
  };
  for (const Node& node : cases) {
    Model model = model_of({table}, {{"Neg", "", "c", {"ids"}, {"computed"}, {}}, node});
    model.opset_imports.push_back({"other", 1});
    EXPECT_EQ(rewritten(model), graph::to_text(model.graph));
  }
  const Model batched = model_of({three_axes}, {{"MatMul", "", "n", {"x", "w"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(batched), graph::to_text(batched.graph));
}

// A caller may feed another tensor for an initializer that is also an input.
TEST(QuantizeWeights, LeavesAWeightThatIsAnInput) {
  Model model = model_of({weight("w", {32, 4})}, {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}});
  model.graph.inputs.push_back({"w", DType::kF32, std::nullopt});
  EXPECT_EQ(rewritten(model), graph::to_text(model.graph));
}

TEST(QuantizeWeights, ChoosesAWeightsSchemeByItsName) {
  const Model model =
      model_of({weight("a", {32, 32}), weight("b", {32, 32}), weight("c", {32, 32})},
               {{"MatMul", "", "ma", {"x", "a"}, {"xa"}, {}},
                {"MatMul", "", "mb", {"xa", "b"}, {"xb"}, {}},
                {"MatMul", "", "mc", {"xb", "c"}, {"y"}, {}}});
  const std::string text =
      rewritten(model, [](const std::string& name) -> std::optional<BlockScheme> {
        if (name == "a") return std::nullopt;
        return BlockScheme{name == "b" ? 8 : 4, 16, true};
      });
  EXPECT_THAT(text, HasSubstr("xa = MatMul(x, a)"));
  EXPECT_THAT(text, HasSubstr("MatMulNBits(xa, b.int8, b.int8.scales)"));
  EXPECT_THAT(text, HasSubstr("MatMulNBits(xb, c.int4, c.int4.scales)"));
}

TEST(QuantizeWeights, FitsTheBlockToRowsAndLeavesRowsOfNoWholeBlock) {
  const Model fits = model_of({weight("w", {48, 4})}, {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}});
  EXPECT_THAT(rewritten(fits, always({8, 128, true})), HasSubstr("block_size=16"));
  const Model odd = model_of({weight("w", {50, 4})}, {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}});
  EXPECT_EQ(rewritten(odd), graph::to_text(odd.graph));
}

// The merged decoder: weights of the outer graph are read in both branches of an If.
TEST(QuantizeWeights, ReachesIntoBranchesAndKeepsWeightsWhereTheyWere) {
  const auto branch = [](const std::string& name) {
    Graph graph;
    graph.name = name;
    graph.nodes = {{"MatMul", "", name + "_m", {"x", "w"}, {name + "_xw"}, {}},
                   {"Add", "", name + "_a", {name + "_xw", "b"}, {name + "_y"}, {}}};
    graph.outputs = {{name + "_y", DType::kF32, std::nullopt}};
    return std::make_shared<const Graph>(graph);
  };
  Model model = model_of({weight("w", {32, 4}), weight("b", {4})},
                         {{"If",
                           "",
                           "if",
                           {"use"},
                           {"y"},
                           {{"then_branch", branch("then")}, {"else_branch", branch("else")}}}});
  model.graph.inputs.push_back({"use", DType::kBool, std::nullopt});
  const std::string text = rewritten(model);
  EXPECT_THAT(text,
              HasSubstr("then_y = com.microsoft.MatMulNBits(x, w.int8, w.int8.scales, , , b)"));
  EXPECT_THAT(text,
              HasSubstr("else_y = com.microsoft.MatMulNBits(x, w.int8, w.int8.scales, , , b)"));
  EXPECT_THAT(text, HasSubstr("\n  weight w.int8: U8 [4, 1, 32]"));
  EXPECT_THAT(text, Not(HasSubstr("weight w: ")));
  EXPECT_THAT(text, Not(HasSubstr(" Add(")));
}

TEST(QuantizeWeights, KeepsAWeightThatSomethingElseReadsToo) {
  const Model model = model_of(
      {weight("w", {32, 32})},
      {{"MatMul", "", "m", {"x", "w"}, {"xw"}, {}}, {"MatMul", "", "n", {"w", "xw"}, {"y"}, {}}});
  const std::string text = rewritten(model);
  EXPECT_THAT(text, HasSubstr("weight w: F32 [32, 32]"));
  EXPECT_THAT(text, HasSubstr("weight w.int8: U8"));
}

TEST(QuantizeWeights, RefusesOneNameWithTwoContents) {
  WeightStore store;
  const std::vector<Node> nodes = {{"MatMul", "", "m", {"x", "w"}, {"y"}, {}}};
  quantize_weights(model_of({weight("w", {32, 4})}, nodes), store, always({8, 32, true}));
  EXPECT_NO_THROW(
      quantize_weights(model_of({weight("w", {32, 4})}, nodes), store, always({8, 32, true})));
  const Error error = test::caught_error([&] {
    quantize_weights(model_of({weight("w", {32, 4}, 2.0f)}, nodes), store, always({8, 32, true}));
  });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("'w'"));
}

TEST(QuantizeWeights, TakesNodesWithoutOutputsForWhatTheyAre) {
  Model model = model_of({weight("w", {32, 4})}, {{"MatMul", "", "m", {"x", "w"}, {}, {}}});
  WeightStore store;
  EXPECT_NO_THROW(quantize_weights(model, store, always({8, 32, true})));
}

}  // namespace
}  // namespace sampan::quantize
