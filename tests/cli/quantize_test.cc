#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/program.h"
#include "sampan/error.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class QuantizeTest : public ::testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& more, const std::string& package = test_package()) {
    std::vector<std::string> arguments = {"quantize", package, "--output", output_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }

  TemporaryFolder folder_;
  fs::path output_ = folder_.path() / "small";
};

TEST_F(QuantizeTest, TellsWhatBecameOfThePackage) {
  const Outcome outcome = run({"--scheme", "int8", "--keep-float", "encoder.layers.0.fc1"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("sampan: every graph loads and translates\n"));
  EXPECT_THAT(outcome.err, ContainsRegex("graphs and weights 29\\.[0-9] -> [0-9.]+ MB"));
  EXPECT_THAT(outcome.err, HasSubstr("stayed fp32: model.encoder.layers.0.fc1.weight"));
  const Outcome translated =
      run_program({"translate", output_.string()}, {.input = "I am happy.\n"});
  EXPECT_EQ(translated.status, 0) << translated.err;
  EXPECT_THAT(translated.out, MatchesRegex("[^\n]+\n"));
}

TEST_F(QuantizeTest, AutoTellsWhatItMeasuredAndChose) {
  const Outcome outcome = run({"--scheme", "auto", "--for", "throughput"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ContainsRegex("int8 for latency: [0-9]+ tokens/s, graphs and weights "
                                         "[0-9.]+ MB, loses -?[0-9.]+ nats a token"));
  EXPECT_THAT(outcome.err,
              ContainsRegex("chosen: (int4|int8 for latency|int8 for throughput|fp32)\n"));
  EXPECT_TRUE(fs::exists(output_ / "sampan.json"));
}

TEST_F(QuantizeTest, AutoRefusesWhatItWouldIgnore) {
  const Outcome outcome = run({"--scheme", "auto", "--block-size", "32"});
  EXPECT_EQ(outcome.status, exit_code(ErrorCode::kInvalidArgument));
  EXPECT_THAT(outcome.err, HasSubstr("portable target alone"));
}

TEST_F(QuantizeTest, IsSilentWhenAskedToBe) {
  const Outcome outcome = run({"--scheme", "int4", "--block-size", "32", "--quiet"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(QuantizeTest, EndsWithOneLineAndTheCodeOfTheError) {
  const struct {
    std::vector<std::string> arguments;
    std::string package;
    ErrorCode code;
  } cases[] = {
      {{}, test_package(), ErrorCode::kInvalidArgument},  // no scheme
      {{"--scheme", "int3"}, test_package(), ErrorCode::kInvalidArgument},
      {{"--scheme", "int4", "--block-size", "48"}, test_package(), ErrorCode::kInvalidArgument},
      {{"--scheme", "int8", "--keep-int8", "fc1"}, test_package(), ErrorCode::kInvalidArgument},
      {{"--scheme", "int8", "--keep-float", "("}, test_package(), ErrorCode::kInvalidArgument},
      {{"--scheme", "int8", "--most-loss", "0.2"}, test_package(), ErrorCode::kInvalidArgument},
      {{"--scheme", "int8"}, (folder_.path() / "none").string(), ErrorCode::kNotFound},
  };
  for (const auto& c : cases) {
    const Outcome outcome = run(c.arguments, c.package);
    EXPECT_EQ(outcome.status, exit_code(c.code)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+; [^\n]+\n"));
    EXPECT_FALSE(fs::exists(output_));
  }
}

}  // namespace
}  // namespace sampan::cli
