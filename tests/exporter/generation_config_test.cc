#include "exporter/generation_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "support/folders.h"

namespace sampan::exporter {
namespace {

using Json = nlohmann::json;

// Recorded by tests/data/exporter/make_generation_configs.py.
TEST(GenerationConfig, IsDerivedAsTransformersDoes) {
  const Json golden = Json::parse(base::read_file(
      std::filesystem::path(kSourceFolder) / "tests/data/exporter/generation_configs.json",
      std::size_t{1} << 20));
  ASSERT_GE(golden["cases"].size(), 5u);
  for (const Json& expected : golden["cases"]) {
    Json derived = Json::parse(derive_generation_config(expected["config"].dump()));
    EXPECT_EQ(derived["_from_model_config"], true);
    for (const auto& [name, initial] : golden["defaults"].items())
      EXPECT_EQ(derived.value(name, initial), expected["generation"].value(name, initial))
          << name << " of " << expected["config"];
  }
}

TEST(GenerationConfig, LeavesOutWhatDoesNotConcernGeneration) {
  const Json derived = Json::parse(derive_generation_config(
      R"({"model_type": "marian", "d_model": 512, "num_beams": 6, "max_length": null})"));
  EXPECT_FALSE(derived.contains("d_model"));
  EXPECT_FALSE(derived.contains("max_length"));
  EXPECT_EQ(derived["num_beams"], 6);
}

}  // namespace
}  // namespace sampan::exporter
