#include "tune/loss_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "package/package.h"
#include "sampan/exporter.h"
#include "sampan/quantizer.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "tune/text_lines.h"

namespace sampan::tune {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::TemporaryFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const fs::path kCorpus = fs::path(kSourceFolder) / "tests/data/corpus";

// The first lines of a file of the corpus.
std::string head(const std::string& name, int lines) {
  std::ifstream file(kCorpus / name);
  std::string text;
  std::string line;
  for (int i = 0; i < lines && std::getline(file, line); ++i) text += line + '\n';
  return text;
}

class LossSearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    export_checkpoint(fs::path(kSourceFolder) / "models/tatoeba-en-zh", folder_ / "fp32");
    options_.source = folder_.write("text.en", head("tatoeba-dev.en", 20));
    options_.reference = folder_.write("text.zh", head("tatoeba-dev.zh", 20));
    options_.report = [this](std::string_view line) { said_.emplace_back(line); };
  }

  TemporaryFolder folder_;
  QuantizeOptions options_;
  std::vector<std::string> said_;
};

TEST_F(LossSearchTest, TakesTheSmallestPackageWhereItIsWithinTheLoss) {
  options_.scheme = QuantizationScheme::kInt4;
  options_.max_bleu_loss = 100.0;
  quantize_package(folder_ / "fp32", folder_ / "small", options_);
  EXPECT_EQ(package::read_manifest(folder_ / "small")->scheme, "int4-block128");
  EXPECT_THAT(said_, Contains(StartsWith("search: fp32 has BLEU ")));
  EXPECT_THAT(said_, Contains(HasSubstr("search: step 0, ")));
  EXPECT_THAT(said_, Contains(StartsWith("search: on the other 10 lines fp32 has BLEU ")));
}

// A loss below zero asks for a gain: every step is tried that the bisection reaches.
TEST_F(LossSearchTest, RanksLayersAndSaysWhereNothingIsWithinTheLoss) {
  options_.max_bleu_loss = -101.0;
  const Error error =
      caught_error([&] { quantize_package(folder_ / "fp32", folder_ / "small", options_); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("within -101"));
  for (const char* layer :
       {"model.shared.weight", "model.encoder.layers.2", "model.decoder.layers.1"})
    EXPECT_THAT(said_, Contains(StartsWith(std::string("search: rounding ") + layer + " costs ")));
  EXPECT_THAT(said_, Contains(HasSubstr("search: step 5, ")));
  EXPECT_FALSE(fs::exists(folder_ / "small"));
}

TEST(LayerOf, IsWhereTheWeightLies) {
  EXPECT_EQ(layer_of("model.encoder.layers.11.fc1.weight.transposed"), "model.encoder.layers.11");
  EXPECT_EQ(layer_of("model.decoder.layers.0"), "model.decoder.layers.0");
  EXPECT_EQ(layer_of("model.shared.weight"), "model.shared.weight");
}

TEST(TextLines, AreReadWithoutTheirEndsAndSplitInHalves) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.write("a", "one\r\n\ntwo")), ElementsAre("one", "", "two"));
  EXPECT_THAT(read_lines(folder.write("b", "")), ElementsAre());
  const ParallelText text{{"a", "b", "c"}, {"x", "y", "z"}};
  EXPECT_THAT(half_of(text, 0).sources, ElementsAre("a", "c"));
  EXPECT_THAT(half_of(text, 1).references, ElementsAre("y"));
}

TEST(TextLines, OfTwoFilesMustBelongTogetherAndBeEnough) {
  const TemporaryFolder folder;
  const fs::path one = folder.write("one", "a\n");
  const fs::path two = folder.write("two", "a\nb\n");
  EXPECT_EQ(caught_error([&] { read_parallel_text(one, two); }).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(caught_error([&] { read_parallel_text(one, one); }).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(caught_error([&] { read_parallel_text(one, folder / "none"); }).code(),
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sampan::tune
