#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::content_of;
using test::TemporaryFolder;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

Outcome bench(std::vector<std::string> more, const ProgramOptions& options = {}) {
  std::vector<std::string> arguments = {
      "bench", test_package(), "--threads", "1", "--greedy", "--lines", "2", "--rounds", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(std::move(arguments), options);
}

TEST(Bench, MeasuresPackagesInTurns) {
  const Outcome outcome = bench({test_package(), "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["lines"], 2);
  ASSERT_EQ(report["packages"].size(), 2u);
  for (const Json& package : report["packages"]) {
    EXPECT_EQ(package["round_seconds"].size(), 2u);
    EXPECT_GT(package["tokens"], 0);
    EXPECT_LE(package["least_tokens_per_second"], package["tokens_per_second"]);
    EXPECT_GE(package["most_tokens_per_second"], package["tokens_per_second"]);
    EXPECT_GT(package["peak_bytes"], package["idle_bytes"]);
    EXPECT_FALSE(package.contains("profile"));
  }
}

TEST(Bench, ForcesTheLengthOfEveryLine) {
  const Json report = Json::parse(bench({"--length", "7", "--json"}).out);
  EXPECT_EQ(report["packages"][0]["tokens"], 14);
}

TEST(Bench, SaysWhatWasMeasuredAndHow) {
  const Outcome outcome = bench({"--length", "3"});
  EXPECT_THAT(outcome.out, HasSubstr("2 lines, 1 thread, greedy, batches of 32, 3 forced tokens a "
                                     "line; medians of 2 rounds"));
  EXPECT_THAT(outcome.out, HasSubstr("against the first"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Bench, NamesWhereTheTimeGoes) {
  const TemporaryFolder folder;
  const Outcome outcome =
      bench({"--profile", "--json"}, {.environment = {{"TMPDIR", folder.path().string()}}});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json profile = Json::parse(outcome.out)["packages"][0]["profile"];
  EXPECT_EQ(profile["cut_short"], false);
  EXPECT_LE(profile["runtime_seconds"], profile["seconds"]);
  double sum = 0;
  for (const Json& row : profile["operators"]) sum += row["seconds"].get<double>();
  EXPECT_GT(sum, 0.0);
  EXPECT_LE(sum, profile["runtime_seconds"].get<double>() * 1.01);
  EXPECT_GE(profile["operators"][0]["seconds"], profile["operators"][1]["seconds"]);
  EXPECT_THAT(profile["nodes"], Not(IsEmpty()));
  // The traces are gone.
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Bench, TellsTheProfileAsATableToo) {
  const Outcome outcome = bench({"--profile", "--markdown"});
  EXPECT_THAT(outcome.out, HasSubstr("of the time goes into"));
  EXPECT_THAT(outcome.out, HasSubstr("| outside the runtime: text, search, copies |"));
}

TEST(Bench, DrawsItsFigures) {
  const TemporaryFolder folder;
  const std::string picture = folder.write("bench.svg", "an older picture").string();
  EXPECT_EQ(bench({"--svg", picture}).status, 0);
  EXPECT_THAT(content_of(picture), StartsWith("<svg"));
  EXPECT_THAT(content_of(picture), HasSubstr("tokens/s"));
}

TEST(Bench, ReadsItsLinesFromAFile) {
  const TemporaryFolder folder;
  const std::string source = folder.write("some.en", "One.\nTwo.\nThree.\n").string();
  EXPECT_THAT(bench({"--source", source}).out, HasSubstr("2 lines of some.en, "));
  const Outcome whole =
      run_program({"bench", test_package(), "--source", source, "--lines", "0", "--rounds", "1"});
  EXPECT_THAT(whole.out, HasSubstr("3 lines of some.en, "));
}

TEST(Bench, RefusesWhatItCannotMeasureOrWriteBeforeAnyWork) {
  const TemporaryFolder folder;
  EXPECT_EQ(bench({"--source", folder.write("empty", "").string()}).status, 2);
  EXPECT_EQ(bench({(folder / "nowhere").string()}).status, 3);
  EXPECT_EQ(bench({"--svg", (folder / "no/such/folder.svg").string()}).status, 3);
  EXPECT_EQ(bench({"--svg", folder.path().string()}).status, 2);
  EXPECT_EQ(bench({"--rounds", "0"}).status, 2);
  EXPECT_EQ(bench({"--json", "--markdown"}).status, 2);
}

}  // namespace
}  // namespace sampan::cli
