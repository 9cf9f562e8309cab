#include "tune/machine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "package/package.h"
#include "sampan/exporter.h"
#include "sampan/quantizer.h"
#include "sampan/translator.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "tune/fp32_package.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::content_of;
using test::fp32_package;
using test::TemporaryFolder;
using ::testing::HasSubstr;

MachineTrial trial(std::uint64_t bytes, double speed, double loss) {
  MachineTrial result;
  result.graph_bytes = bytes;
  result.tokens_per_second = speed;
  result.loss = loss;
  return result;
}

TEST(BestTrial, IsTheFastestThatLosesLittle) {
  EXPECT_EQ(tune::best_trial(std::vector{trial(44, 260, 0.3), trial(83, 187, 0.001),
                                         trial(82, 169, 0.002), trial(312, 80, 0.0)},
                             0.1),
            1U);
  EXPECT_EQ(tune::best_trial(std::vector{trial(44, 260, 0.05), trial(83, 187, 0.001)}, 0.1), 0U);
}

TEST(BestTrial, IsTheSmallestOfThoseThatAreNearlyAsFast) {
  EXPECT_EQ(tune::best_trial(std::vector{trial(83, 1000, 0.0), trial(44, 960, 0.05)}, 0.1), 1U);
  EXPECT_EQ(tune::best_trial(std::vector{trial(83, 1000, 0.0), trial(44, 900, 0.05)}, 0.1), 0U);
}

TEST(BestTrial, IsNoneWhereAllLoseMore) {
  EXPECT_EQ(caught_error([] { tune::best_trial(std::vector{trial(44, 260, 0.3)}, 0.1); }).code(),
            ErrorCode::kUnsupported);
}

class MachineChoiceTest : public ::testing::Test {
 protected:
  MachineChoiceTest() { options_.texts = {"I am happy.", "Where is the station?"}; }

  TemporaryFolder folder_;
  fs::path output_ = folder_.path() / "best";
  MachineChoiceOptions options_;
};

TEST_F(MachineChoiceTest, WritesTheOneThatItNames) {
  for (const OptimizedFor purpose : {OptimizedFor::kLatency, OptimizedFor::kThroughput}) {
    options_.optimized_for = purpose;
    options_.force = purpose == OptimizedFor::kThroughput;
    const MachineChoice choice = optimize_for_this_machine(fp32_package(), output_, options_);
    ASSERT_EQ(choice.trials.size(), 4U);
    const MachineTrial& fp32 = choice.trials.back();
    EXPECT_EQ(fp32.loss, 0.0);
    EXPECT_EQ(fp32.same_lines, 1.0);
    const MachineTrial& best = choice.trials[choice.chosen];
    EXPECT_GT(best.tokens_per_second, 0.0);
    EXPECT_LE(best.loss, options_.most_loss);
    const package::Manifest manifest = *package::read_manifest(output_);
    EXPECT_EQ(manifest.precision, best.weights == OptimizedWeights::kFloat32 ? "fp32"
                                  : best.weights == OptimizedWeights::kInt8  ? "int8"
                                                                             : "int4");
    EXPECT_FALSE(Translator::load(output_).translate("I am happy.").text.empty());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "trials are left";
}

TEST_F(MachineChoiceTest, TakesNothingThatLosesMoreThanAllowed) {
  options_.most_loss = -1.0;  // not even fp32 gains that much
  EXPECT_EQ(
      caught_error([&] { optimize_for_this_machine(fp32_package(), output_, options_); }).code(),
      ErrorCode::kUnsupported);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(MachineChoiceTest, LeavesNothingAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  options_.stop = stop.get_token();
  EXPECT_EQ(
      caught_error([&] { optimize_for_this_machine(fp32_package(), output_, options_); }).code(),
      ErrorCode::kCancelled);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(MachineChoiceTest, LeavesOutFormsThatTheModelDoesNotAllow) {
  const fs::path odd = folder_.path() / "odd";  // 40 units in a layer, which no block divides
  export_checkpoint(fs::path(kSourceFolder) / "tests/data/m2m100/checkpoint", odd);
  const MachineChoice choice = optimize_for_this_machine(odd, output_, options_);
  ASSERT_EQ(choice.trials.size(), 2U);
  EXPECT_EQ(choice.trials.front().name, "int8 for throughput");
  EXPECT_EQ(choice.trials.back().name, "fp32");
}

TEST_F(MachineChoiceTest, WantsText) {
  options_.texts.clear();
  const Error error =
      caught_error([&] { optimize_for_this_machine(fp32_package(), output_, options_); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("sentences"));
}

TEST_F(MachineChoiceTest, QuantisingForTheProcessorIsOptimising) {
  QuantizeOptions options;
  options.target = QuantizationTarget::kOrtCpu;
  options.scheme = QuantizationScheme::kInt4;
  const QuantizeSummary summary = quantize_package(fp32_package(), output_, options);
  EXPECT_LT(summary.graph_bytes_after * 4, summary.graph_bytes_before);
  OptimizeOptions optimized;
  optimized.weights = OptimizedWeights::kInt4;
  optimize_package(fp32_package(), folder_.path() / "optimized", optimized);
  EXPECT_EQ(content_of(output_ / "sampan.json"),
            content_of(folder_.path() / "optimized" / "sampan.json"));
  options.force = true;
  options.block_size = 32;
  EXPECT_THAT(caught_error([&] { quantize_package(fp32_package(), output_, options); }).what(),
              HasSubstr("portable target alone"));
}

}  // namespace
}  // namespace sampan
