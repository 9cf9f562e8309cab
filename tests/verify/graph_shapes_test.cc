// Shapes of the graphs that sampan writes, inferred without running them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "graph/onnx_reader.h"
#include "graph/shape_inference.h"
#include "sampan/exporter.h"
#include "sampan/optimizer.h"
#include "sampan/quantizer.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::verify {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

void expect_all_inferred(const fs::path& package, std::size_t expected_graphs) {
  std::size_t graphs = 0;
  for (const auto& file : fs::directory_iterator(package)) {
    if (file.path().extension() != ".onnx") continue;
    SCOPED_TRACE(file.path().filename());
    ++graphs;
    const graph::InferredShapes found = graph::infer_shapes(graph::read_model_file(file.path()));
    EXPECT_THAT(found.faults, IsEmpty());
    EXPECT_THAT(found.unknown, IsEmpty());
    EXPECT_EQ(found.nodes - found.inferred, 0U);
  }
  EXPECT_EQ(graphs, expected_graphs);
}

void expect_all_inferred_at(const fs::path& checkpoint, std::int64_t opset) {
  const test::TemporaryFolder folder;
  ExportOptions options;
  options.opset = opset;
  export_checkpoint(checkpoint, folder / "package", options);
  expect_all_inferred(folder / "package", 4);
}

TEST(GraphShapesOfQuantisedPackages, AreInferredInEveryNode) {
  const test::TemporaryFolder folder;
  export_checkpoint(fs::path(kSourceFolder) / "models/tatoeba-en-zh", folder / "fp32");
  for (const QuantizationScheme scheme :
       {QuantizationScheme::kInt8, QuantizationScheme::kInt4, QuantizationScheme::kDynamicInt8,
        QuantizationScheme::kFp16}) {
    SCOPED_TRACE(static_cast<int>(scheme));
    QuantizeOptions options;
    options.scheme = scheme;
    options.force = true;
    quantize_package(folder / "fp32", folder / "small", options);
    expect_all_inferred(folder / "small", 4);
  }
}

TEST(GraphShapesOfOptimisedPackages, AreInferredInEveryNode) {
  const test::TemporaryFolder folder;
  export_checkpoint(fs::path(kSourceFolder) / "models/tatoeba-en-zh", folder / "fp32");
  for (const OptimizedWeights weights :
       {OptimizedWeights::kFloat32, OptimizedWeights::kInt8, OptimizedWeights::kInt4})
    for (const OptimizedFor purpose : {OptimizedFor::kLatency, OptimizedFor::kThroughput}) {
      SCOPED_TRACE(static_cast<int>(weights));
      OptimizeOptions options;
      options.weights = weights;
      options.optimized_for = purpose;
      options.force = true;
      optimize_package(folder / "fp32", folder / "fast", options);
      expect_all_inferred(folder / "fast", 2);
    }
}

// Names of axes are less exact there, and shapes are computed in longer ways.
TEST(GraphShapesOfOthers, RaiseNoFault) {
  std::size_t graphs = 0;
  for (const char* layout : {"merged", "three_files"})
    for (const auto& file :
         fs::directory_iterator(fs::path(kSourceFolder) / "tests/data/session" / layout)) {
      if (file.path().extension() != ".onnx") continue;
      SCOPED_TRACE(file.path());
      ++graphs;
      const graph::InferredShapes found = graph::infer_shapes(graph::read_model_file(file.path()));
      EXPECT_THAT(found.faults, IsEmpty());
      EXPECT_THAT(found.unknown, IsEmpty());
    }
  EXPECT_EQ(graphs, 5U);
}

class GraphShapes : public testing::TestWithParam<std::int64_t> {};
TEST_P(GraphShapes, AreInferredInEveryNodeOfM2M100) {
  expect_all_inferred_at(fs::path(kSourceFolder) / "tests/data/m2m100/checkpoint", GetParam());
}
TEST_P(GraphShapes, AreInferredInEveryNodeOfMarian) {
  expect_all_inferred_at(fs::path(kSourceFolder) / "models/tatoeba-en-zh", GetParam());
}
INSTANTIATE_TEST_SUITE_P(Opsets, GraphShapes, testing::Values(14, 15, 16, 17, 18));

}  // namespace
}  // namespace sampan::verify
