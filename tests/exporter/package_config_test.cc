#include "exporter/package_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "exporter/graph_output.h"
#include "support/folders.h"

namespace sampan::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Json = nlohmann::json;

TEST(PackageConfig, StaysAsItIsWithoutDataFiles) {
  EXPECT_EQ(config_with_data_files("{ \"b\": 1,\"a\": 2}", {}), "{ \"b\": 1,\"a\": 2}");
}

TEST(PackageConfig, NamesGraphsWithDataFilesAndKeepsTheRest) {
  const Json config = Json::parse(
      config_with_data_files(R"({"d_model": 512, "transformers.js_config": {"dtype": "fp32"}})",
                             {"encoder_model.onnx", "decoder_model.onnx"}));
  EXPECT_EQ(config, Json::parse(R"({"d_model": 512, "transformers.js_config": {"dtype": "fp32",
      "use_external_data_format": {"encoder_model.onnx": 1, "decoder_model.onnx": 1}}})"));
}

TEST(GraphsWithDataFiles, AreThoseWithTheMostWeights) {
  const checkpoint::Checkpoint checkpoint =
      checkpoint::open_checkpoint(std::filesystem::path(kSourceFolder) / "models/tatoeba-en-zh");
  const auto graphs = architectures::build_graphs(checkpoint, {});
  EXPECT_THAT(graphs_with_data_files(graphs), IsEmpty());
  // 5,014,528 parameters in the encoder and 4,761,949 in a decoder.
  EXPECT_THAT(graphs_with_data_files(graphs, 20'000'000), ElementsAre("encoder_model.onnx"));
  EXPECT_THAT(graphs_with_data_files(graphs, 0),
              ElementsAre("encoder_model.onnx", "decoder_model.onnx",
                          "decoder_with_past_model.onnx", "decoder_model_merged.onnx"));
}

}  // namespace
}  // namespace sampan::exporter
