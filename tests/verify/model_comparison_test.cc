#include "verify/model_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/onnx_writer.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::verify {
namespace {

namespace fs = std::filesystem;
using graph::Attributes;
using graph::GraphBuilder;
using graph::Value;
using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kWidth = 4;

graph::Initializer weight(const std::string& name, tensor::Shape shape, float step) {
  const auto count = static_cast<std::size_t>(tensor::element_count(shape).value());
  std::vector<std::byte> bytes(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = step * static_cast<float>(i % 7) - 0.5f;
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return {name, DType::kF32, std::move(shape), std::move(bytes)};
}

/// What a test changes of the small model below.
struct Variant {
  float project_step = 0.25f;     ///< of the second layer's weight
  std::string scope = "project";  ///< what the second layer is called
  std::string activation = "Relu";
  std::string batch = "batch_size";
  std::string output = "logits";
  bool through_sequence = false;  ///< the activation's result passes a sequence of tensors
};

/// Ids and a cache: embed, project, activate, sum with the cache's mean.
graph::Graph small_graph(const Variant& variant) {
  GraphBuilder g("small");
  const Value ids =
      g.input({"input_ids", DType::kI64, {{{variant.batch}, {std::string("sequence_length")}}}});
  const Value past =
      g.input({"past", DType::kF32, {{{variant.batch}, {std::string("past_length")}, {kWidth}}}});
  Value value;
  {
    const auto scope = g.scope("embed");
    value = g.node("Gather", {g.weight(weight("table", {kRows, kWidth}, 0.5f)), ids});
  }
  {
    const auto scope = g.scope(variant.scope);
    value = g.node("MatMul",
                   {value, g.weight(weight("weight", {kWidth, kWidth}, variant.project_step))});
    value = g.node(std::string_view(variant.activation), {value});
    if (variant.through_sequence)
      value = g.node("SequenceAt", {g.node("SequenceConstruct", {value}), g.int_scalar(0)});
  }
  const Value all = g.node("Concat", {past, value}, {{"axis", std::int64_t{1}}});
  g.output(all, {variant.output, DType::kF32, {}});
  return std::move(g).build();
}

std::string bytes_of(graph::Graph graph) {
  graph::Model model;
  model.ir_version = 8;
  model.opset_imports = {{"", 17}};
  model.graph = std::move(graph);
  std::string bytes;
  graph::write_model(model, [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return bytes;
}

class ModelComparisonTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const Variant& variant) {
    return folder_.write(name, bytes_of(small_graph(variant)));
  }
  Report compare(const Variant& variant, ModelComparisonOptions options = {}) {
    options.against = write("b.onnx", variant);
    return compare_models(write("a.onnx", {}), options);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ModelComparisonTest, EqualModelsPassWithAndWithoutAPast) {
  std::vector<std::string> told;
  ModelComparisonOptions options;
  options.progress = [&](std::string_view line) { told.emplace_back(line); };
  const Report report = compare({}, options);
  EXPECT_EQ(report.verdict(), Outcome::kPassed) << format_text(report);
  ASSERT_EQ(report.checks.size(), 1u);
  EXPECT_EQ(report.checks[0].name, "output.logits");
  EXPECT_EQ(report.checks[0].figure, 0);
  EXPECT_THAT(told, ElementsAre("loading models", "comparing outputs: without a past",
                                "comparing outputs: with a past"));
}

TEST_F(ModelComparisonTest, TheFirstNodeThatDiffersIsNamed) {
  const Report report = compare({.project_step = 0.3f});
  EXPECT_EQ(report.verdict(), Outcome::kFailed);
  ASSERT_EQ(report.places.size(), 1u) << format_text(report);
  const Place& place = report.places[0];
  EXPECT_EQ(place.graph, "a.onnx");
  EXPECT_EQ(place.node, "/project/MatMul");
  EXPECT_EQ(place.part, "MatMul");
  EXPECT_GT(place.figure, place.limit);
  EXPECT_THAT(place.detail, HasSubstr("the last being '/embed/Gather'"));
  // Every common value is ranked, those behind the first difference too.
  ASSERT_EQ(report.inner_values.size(), 4u);
  EXPECT_EQ(report.inner_values[0].difference, 0);
  EXPECT_GT(report.inner_values[3].relative_error, 0);
}

TEST_F(ModelComparisonTest, InnerValuesThatAreNoTensorsAreSteppedOver) {
  ModelComparisonOptions options;
  options.against = write("b.onnx", {.project_step = 0.3f, .through_sequence = true});
  const Report report = compare_models(write("a.onnx", {.through_sequence = true}), options);
  ASSERT_EQ(report.places.size(), 1u) << format_text(report);
  EXPECT_EQ(report.places[0].node, "/project/MatMul");
  for (const InnerValue& value : report.inner_values)
    EXPECT_THAT(value.name, Not(HasSubstr("SequenceConstruct")));
}

TEST_F(ModelComparisonTest, NamesOfOneSideOnlyAreSteppedOver) {
  const Report report = compare({.project_step = 0.3f, .scope = "other"});
  ASSERT_EQ(report.places.size(), 1u) << format_text(report);
  EXPECT_EQ(report.places[0].part, "Concat");
  EXPECT_THAT(report.places[0].detail, HasSubstr("the last being '/embed/Gather'"));
}

TEST_F(ModelComparisonTest, ALimitDecidesWhatDiffers) {
  ModelComparisonOptions options;
  options.limit = 10;
  EXPECT_EQ(compare({.project_step = 0.3f}, options).verdict(), Outcome::kPassed);
}

TEST_F(ModelComparisonTest, AModelThatTakesFewerShapesIsAFinding) {
  folder_.write("c.onnx", [] {
    GraphBuilder g("fixed");
    const Value ids =
        g.input({"input_ids", DType::kI64, {{{std::string("b")}, {std::string("s")}}}});
    const Value rows = g.node("Gather", {g.weight(weight("table", {kRows, kWidth}, 0.5f)), ids});
    // Right for one row of seven ids alone, as a trace that froze a shape leaves it.
    const Value flat = g.node("Reshape", {rows, g.int_vector({1, 7, kWidth})});
    g.output(flat, {"states", DType::kF32, {}});
    return bytes_of(std::move(g).build());
  }());
  folder_.write("d.onnx", [] {
    GraphBuilder g("free");
    const Value ids =
        g.input({"input_ids", DType::kI64, {{{std::string("b")}, {std::string("s")}}}});
    g.output(g.node("Gather", {g.weight(weight("table", {kRows, kWidth}, 0.5f)), ids}),
             {"states", DType::kF32, {}});
    return bytes_of(std::move(g).build());
  }());
  ModelComparisonOptions options;
  options.against = folder_ / "c.onnx";
  const Report report = compare_models(folder_ / "d.onnx", options);
  EXPECT_EQ(report.verdict(), Outcome::kFailed);
  EXPECT_EQ(report.checks[0].name, "runs");
  EXPECT_THAT(report.checks[0].detail, HasSubstr("two rows: d.onnx ran, but not the other"));
}

TEST_F(ModelComparisonTest, AnAxisThatOneModelFixesIsFixedForBoth) {
  ModelComparisonOptions options;
  options.against = folder_.write("c.onnx", [] {
    GraphBuilder g("fixed");
    const Value ids =
        g.input({"input_ids", DType::kI64, {{{std::int64_t{1}}, {std::string("s")}}}});
    g.output(g.node("Gather", {g.weight(weight("table", {kRows, kWidth}, 0.5f)), ids}),
             {"states", DType::kF32, {}});
    return bytes_of(std::move(g).build());
  }());
  const fs::path free = folder_.write("d.onnx", [] {
    GraphBuilder g("free");
    const Value ids =
        g.input({"input_ids", DType::kI64, {{{std::string("b")}, {std::string("s")}}}});
    g.output(g.node("Gather", {g.weight(weight("table", {kRows, kWidth}, 0.5f)), ids}),
             {"states", DType::kF32, {}});
    return bytes_of(std::move(g).build());
  }());
  EXPECT_EQ(compare_models(free, options).verdict(), Outcome::kPassed);
  options.made_up.axes = {{"b", 2}};
  EXPECT_EQ(test::caught_error([&] { compare_models(free, options); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST_F(ModelComparisonTest, AnOutputThatTheOtherLacksIsNotChecked) {
  ModelComparisonOptions options;
  const Error error = test::caught_error([&] { compare({.output = "scores"}, options); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("no output in common: logits and scores"));
}

TEST_F(ModelComparisonTest, OptionsThatDoNotFitAreRefused) {
  const fs::path model = write("a.onnx", {});
  const auto code = [&](const ModelComparisonOptions& options) {
    return test::caught_error([&] { compare_models(model, options); }).code();
  };
  EXPECT_EQ(code({}), ErrorCode::kInvalidArgument);
  ModelComparisonOptions options;
  options.against = model;
  options.made_up.id_limit = 0;
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.made_up = {{{"batch_size", 1 << 20}, {"past_length", 1 << 20}}, {}};
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.made_up = {};
  options.against = folder_ / "none.onnx";
  EXPECT_EQ(code(options), ErrorCode::kNotFound);
}

TEST_F(ModelComparisonTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  ModelComparisonOptions options;
  options.stop = stop.get_token();
  EXPECT_EQ(test::caught_error([&] { compare({}, options); }).code(), ErrorCode::kCancelled);
}

/// tests/data/verify/small.onnx and small.npz: what onnxruntime computed, recorded by NumPy.
const fs::path kData = fs::path(kSourceFolder) / "tests/data/verify";

TEST(RecordedOutputs, ThatAModelComputesPass) {
  ModelComparisonOptions options;
  options.expected = kData / "small.npz";
  const Report report = compare_models(kData / "small.onnx", options);
  EXPECT_EQ(report.verdict(), Outcome::kPassed) << format_text(report);
  EXPECT_EQ(report.checks.size(), 3u);
}

TEST(RecordedOutputs, ThatAModelDoesNotComputeAreFoundWithTheirNode) {
  ModelComparisonOptions options;
  options.expected = kData / "wrong.npz";
  const Report report = compare_models(kData / "small.onnx", options);
  EXPECT_EQ(report.verdict(), Outcome::kFailed);
  ASSERT_EQ(report.places.size(), 1u) << format_text(report);
  EXPECT_EQ(report.places[0].node, "scale");
}

TEST(RecordedOutputs, ModelsOfEveryNumberTypeRunOnRecordedInputs) {
  ModelComparisonOptions options;
  options.against = kData / "small.onnx";
  options.inputs = kData / "small.npz";
  EXPECT_EQ(compare_models(kData / "small.onnx", options).verdict(), Outcome::kPassed);
  options.inputs.clear();  // made up
  EXPECT_EQ(compare_models(kData / "small.onnx", options).verdict(), Outcome::kPassed);
  options.inputs = kData / "incomplete.npz";
  const Error error = test::caught_error([&] { compare_models(kData / "small.onnx", options); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("no array for the input 'half'"));
}

}  // namespace
}  // namespace sampan::verify
