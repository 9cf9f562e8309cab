// Graphs in memory: written, read, printed and checked.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "graph/checker.h"
#include "graph/graph_builder.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"
#include "graph/text_dump.h"
#include "sampan/error.h"

namespace sampan::graph {
namespace {

using tensor::DType;

std::vector<std::byte> bytes_of(std::initializer_list<float> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

/// y = x * w + 1, and z = y or x, as `take_sum` says.
Model small_model() {
  Model model;
  model.producer_name = "test";
  model.opset_imports = {{"", 17}};
  model.metadata = {{"key", "value"}};
  Graph& graph = model.graph;
  graph.name = "small";
  graph.inputs = {{"x", DType::kF32, {{Dim("batch"), Dim(std::int64_t{2})}}},
                  {"take_sum", DType::kBool, {{Dim(std::int64_t{1})}}}};
  graph.outputs = {{"z", DType::kF32, {{Dim("batch"), Dim(std::int64_t{2})}}}};
  graph.initializers = {{"w", DType::kF32, {2}, bytes_of({2.0f, 3.0f})},
                        {"one", DType::kF32, {}, bytes_of({1.0f})}};
  Graph then_branch, else_branch;
  then_branch.name = "then";
  then_branch.nodes = {{"Identity", "", "copy_y", {"y"}, {"z_then"}, {}}};
  then_branch.outputs = {{"z_then", DType::kF32, std::nullopt}};
  else_branch.name = "else";
  else_branch.nodes = {{"Identity", "", "copy_x", {"x"}, {"z_else"}, {}}};
  else_branch.outputs = {{"z_else", DType::kF32, std::nullopt}};
  graph.nodes = {{"Mul", "", "scale", {"x", "w"}, {"scaled"}, {}},
                 {"Add", "", "shift", {"scaled", "one"}, {"y"}, {}},
                 {"If",
                  "",
                  "choose",
                  {"take_sum"},
                  {"z"},
                  {{"then_branch", std::make_shared<const Graph>(then_branch)},
                   {"else_branch", std::make_shared<const Graph>(else_branch)}}}};
  return model;
}

std::vector<std::byte> written(const Model& model) {
  std::vector<std::byte> bytes;
  write_model(model, [&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  });
  return bytes;
}

TEST(OnnxFile, WhatWasWrittenReadsBackTheSame) {
  const std::vector<std::byte> bytes = written(small_model());
  const Model read = read_model(bytes, "small.onnx");
  EXPECT_EQ(to_text(read), to_text(small_model()));
  EXPECT_EQ(written(read), bytes);
  EXPECT_EQ(read.metadata, small_model().metadata);
}

TEST(OnnxFile, AFileCutShortAnywhereIsRefusedOrStillAModel) {
  const std::vector<std::byte> bytes = written(small_model());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    try {
      read_model(std::span(bytes).first(length), "cut.onnx");
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cut.onnx"), std::string::npos);
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    }
  }
}

TEST(OnnxFile, SaysWhatItGotInsteadOfAModel) {
  for (const std::string_view text :
       {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "<html>", ""}) {
    EXPECT_THROW(read_model(std::as_bytes(std::span(text.data(), text.size())), "model.onnx"),
                 Error)
        << text;
  }
}

TEST(Checker, AcceptsAGoodModel) { EXPECT_TRUE(find_faults(small_model()).empty()); }

struct Damage {
  std::string name;
  void (*apply)(Graph&);
  std::string named;  ///< what the fault must name
};

class CheckerFinds : public testing::TestWithParam<Damage> {};

TEST_P(CheckerFinds, TheFaultByName) {
  Model model = small_model();
  GetParam().apply(model.graph);
  const std::vector<std::string> faults = find_faults(model);
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults.front().find(GetParam().named), std::string::npos) << faults.front();
  EXPECT_THROW(check_model(model), Error);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CheckerFinds,
    testing::Values(
        Damage{"nodes_out_of_order", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }, "scaled"},
        Damage{"a_value_written_twice", [](Graph& g) { g.nodes[1].outputs = {"scaled"}; },
               "scaled"},
        Damage{"an_input_from_nowhere", [](Graph& g) { g.nodes[0].inputs[1] = "lost"; }, "lost"},
        Damage{"two_nodes_of_one_name", [](Graph& g) { g.nodes[1].name = "scale"; }, "scale"},
        Damage{"an_output_that_nobody_makes", [](Graph& g) { g.outputs[0].name = "ghost"; },
               "ghost"},
        Damage{"a_weight_of_another_size", [](Graph& g) { g.initializers[0].shape = {3}; }, "w"},
        Damage{"data_outside_the_folder",
               [](Graph& g) {
                 g.initializers[0].data = ExternalData{"../secret", 0, 8};
               },
               "secret"},
        Damage{"an_operator_of_an_unknown_set", [](Graph& g) { g.nodes[0].domain = "com.else"; },
               "com.else"}),
    [](const auto& damage) { return damage.param.name; });

}  // namespace
}  // namespace sampan::graph
