// Types and shapes that operators make, and what contradicts them.

#include "graph/shape_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph_builder.h"

namespace sampan::graph {
namespace {

using tensor::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Initializer floats(std::string name, tensor::Shape shape) {
  const auto count = static_cast<std::size_t>(tensor::element_count(shape).value());
  return {std::move(name), DType::kF32, std::move(shape), std::vector<std::byte>(4 * count)};
}

Model model_of(GraphBuilder builder, std::int64_t opset = 17) {
  Model model;
  model.opset_imports = {{"", opset}, {"com.microsoft", 1}};
  model.graph = std::move(builder).build();
  return model;
}

/// x [batch, length, 4] times a matrix, split into two heads and joined again by `shape`.
Model heads_model(const std::vector<std::int64_t>& shape, std::vector<Dim> declared) {
  GraphBuilder g("heads");
  const Value x = g.input({"x", DType::kF32, {{Dim("batch"), Dim("length"), 4}}});
  const Value wide = g.node("MatMul", {x, g.weight(floats("w", {4, 6}))});
  const Value split = g.node("Reshape", {wide, g.int_vector({0, 0, 2, 3})});
  const Value turned =
      g.node("Transpose", {split}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  const Value back =
      g.node("Transpose", {turned}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  g.output(g.node("Reshape", {back, g.int_vector(shape)}), {"y", DType::kF32, std::move(declared)});
  return model_of(std::move(g));
}

TEST(Extent, ComputesWithNames) {
  const Extent past = Extent::named("past");
  EXPECT_EQ((past * Extent(2) + Extent(1)).text(), "1 + 2*past");
  EXPECT_TRUE((Extent::named("past + 1") - Extent(1)).equals(past));
  EXPECT_TRUE((past * Extent::named("b") * Extent(6) / (past * Extent(3)))
                  .equals(Extent::named("b") * Extent(2)));
  EXPECT_FALSE((past / Extent(2)).is_known());
  EXPECT_FALSE((past + Extent()).is_known());
  EXPECT_FALSE((Extent(INT64_MAX) + Extent(1)).is_known());
  EXPECT_FALSE((Extent(INT64_MIN) / Extent(-1)).is_known());
}

TEST(ShapeInference, CarriesNamedAxesThroughAGraph) {
  const InferredShapes found =
      infer_shapes(heads_model({0, 0, 6}, {Dim("batch"), Dim("length"), 6}));
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(found.unknown, IsEmpty());
  EXPECT_EQ(found.inferred, found.nodes);
  EXPECT_EQ(to_string(found.values.at("/Transpose").shape.value()), "[batch, 2, length, 3]");
  EXPECT_EQ(to_string(found.values.at("y").shape.value()), "[batch, length, 6]");
}

TEST(ShapeInference, FindsAnAxisThatDoesNotVaryAsDeclared) {
  const InferredShapes found =
      infer_shapes(heads_model({1, -1, 6}, {Dim("batch"), Dim("length"), 6}));
  EXPECT_THAT(found.faults,
              ElementsAre("'y': axis 0 is declared as 'batch', as an input's, and is always 1"));
}

TEST(ShapeInference, FindsWhatIsDeclaredWithAnotherShapeOrType) {
  EXPECT_THAT(infer_shapes(heads_model({0, 0, 6}, {Dim("batch"), Dim("length"), 7})).faults,
              ElementsAre(HasSubstr("declared as [batch, length, 7] and is [batch, length, 6]")));
  Model model = heads_model({0, 0, 6}, {Dim("batch"), Dim("length"), 6});
  model.graph.outputs.front().dtype = DType::kF16;
  EXPECT_THAT(infer_shapes(model).faults, ElementsAre("'y' is declared as F16 and is F32"));
}

TEST(ShapeInference, FindsInputsThatAnOperatorCannotTake) {
  Model model = heads_model({0, 0, 6}, {Dim("batch"), Dim("length"), 6});
  model.graph.initializers.front() = floats("w", {5, 6});
  EXPECT_THAT(infer_shapes(model).faults,
              ElementsAre(HasSubstr("node '/MatMul' (MatMul): the axis that [batch, length, 4] and "
                                    "[5, 6] share is 4 and 5")));
  EXPECT_THAT(infer_shapes(heads_model({0, 0, 5}, {Dim("batch"), Dim("length"), 5})).faults,
              ElementsAre(HasSubstr("[batch, length, 2, 3] cannot become [batch, length, 5]")));
}

TEST(ShapeInference, ComputesShapesFromShapes) {
  GraphBuilder g("shapes");
  const Value ids = g.input({"ids", DType::kI64, {{Dim("batch"), Dim("length")}}});
  const Value past = g.input({"past", DType::kF32, {{Dim("batch"), 2, Dim("past"), 3}}});
  const Value length = g.node("Gather", {g.node("Shape", {past}), g.int_scalar(2)});
  const Value end =
      g.node("Add", {length, g.node("Gather", {g.node("Shape", {ids}), g.int_scalar(1)})});
  const Value places = g.node("Range", {length, end, g.int_scalar(1)});
  const Value all = g.node("Range", {g.int_scalar(0), end, g.int_scalar(1)});
  const Value rows = g.node("Unsqueeze", {places, g.int_vector({1})});
  g.output(g.node("Greater", {all, rows}),
           {"later", DType::kBool, {{Dim("length"), Dim("past + length")}}});
  const Value flat = g.node("Reshape", {ids, g.int_vector({-1})});
  const Value shape =
      g.node("Concat", {g.node("Shape", {ids}), g.int_vector({1})}, {{"axis", std::int64_t{0}}});
  g.output(g.node("Reshape", {flat, shape}),
           {"again", DType::kI64, {{Dim("batch"), Dim("length"), 1}}});
  const InferredShapes found = infer_shapes(model_of(std::move(g)));
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_EQ(found.inferred, found.nodes);
  EXPECT_EQ(to_string(found.values.at("later").shape.value()), "[length, length + past]");
  EXPECT_EQ(to_string(found.values.at("again").shape.value()), "[batch, length, 1]");
}

Model one_node(Operator op, std::int64_t opset, Attributes attributes, std::size_t inputs = 1) {
  GraphBuilder g("one");
  const Value x = g.input({"x", DType::kF32, {{Dim("batch"), 4}}});
  g.output(g.node(op, std::vector<Value>(inputs, x), std::move(attributes)),
           {"y", DType::kF32, {{Dim("batch"), 4}}});
  return model_of(std::move(g), opset);
}

TEST(ShapeInference, FindsWhatAnOperatorSetDoesNotHave) {
  EXPECT_THAT(infer_shapes(one_node("LayerNormalization", 16, {}, 2)).faults,
              ElementsAre(HasSubstr("LayerNormalization is no operator of set 16, it came with set "
                                    "17")));
  const Attributes axes = {{"axes", std::vector<std::int64_t>{-1}}};
  const Model mean = one_node("ReduceMean", 18, axes);
  EXPECT_THAT(infer_shapes(mean).faults,
              ::testing::Contains(HasSubstr("does not have its attribute 'axes'")));
  EXPECT_THAT(infer_shapes(one_node("Relu", 17, {}, 2)).faults,
              ElementsAre(HasSubstr("it has 2 inputs")));
}

TEST(ShapeInference, TellsWhatItDoesNotKnow) {
  EXPECT_THAT(infer_shapes(one_node({"com.microsoft", "Inverse"}, 17, {})).unknown,
              ElementsAre(Pair("com.microsoft.Inverse", 1)));
  EXPECT_THAT(infer_shapes(one_node("Relu", 21, {})).unknown,
              ElementsAre(Pair("operator set 21", 1)));
  EXPECT_EQ(infer_shapes(one_node("Relu", 21, {})).inferred, 0U);
}

}  // namespace
}  // namespace sampan::graph
