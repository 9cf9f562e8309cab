#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::TemporaryFolder;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using Json = nlohmann::json;

// The processes of the packages, as soon as there are any.
std::vector<int> children_of(const Program& program) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (std::vector<int> children = program.children(); !children.empty()) return children;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

// Waits until a process has ended, whether or not somebody has asked how.
bool ended(int process) {
  for (int tries = 0; tries < 1000; ++tries) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    std::string word, state = "gone";
    while (file >> word)
      if (word == "State:") file >> state;
    if (state == "gone" || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class EvaluateTest : public ::testing::Test {
 protected:
  Outcome evaluate(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"evaluate",    test_package(),    "--source",  source_,
                                          "--reference", reference_,        "--threads", "1",
                                          "--greedy",    "--latency-lines", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }

  // One that takes minutes.
  void use_a_long_text() {
    std::string text;
    for (int i = 0; i < 20000; ++i)
      text += "My name is Tom and I live here " + std::to_string(i) + "\n";
    source_ = reference_ = folder_.write("long", text).string();
  }

  TemporaryFolder folder_;
  std::string source_ = folder_.write("source", "Good morning.\nMy name is Tom.\n42\n").string();
  std::string reference_ = folder_.write("reference", "早上好。\n我叫汤姆。\n42\n").string();
};

TEST_F(EvaluateTest, SaysWhatQualityCostsAndHowItWasMeasured) {
  const Outcome outcome = evaluate();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  for (const char* row : {"BLEU ", "chrF2 ", "length / reference's", "repeating lines", "tokens/s",
                          "latency P50 / P90 / P99", "peak memory", "load time", "package ",
                          "3 lines of source, 1 thread, greedy, batches of 32", "tok:zh", "nc:6"})
    EXPECT_THAT(outcome.out, HasSubstr(row));
  EXPECT_THAT(outcome.out, Not(HasSubstr("baseline")));
}

TEST_F(EvaluateTest, GivesEveryFigureAsJson) {
  const Outcome outcome = evaluate({"--json"});
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["lines"], 3);
  const Json& package = report["packages"][0];
  EXPECT_EQ(package["num_beams"], 1);
  EXPECT_NEAR(package["quality"]["bleu"].get<double>(), 100.0, 1e-9);
  EXPECT_NEAR(package["quality"]["chrf2"].get<double>(), 100.0, 1e-9);
  EXPECT_EQ(package["quality"]["length_ratio"], 1.0);
  EXPECT_GT(package["cost"]["tokens"], 0);
  EXPECT_GT(package["cost"]["tokens_per_second"], 0.0);
  EXPECT_GT(package["cost"]["peak_bytes"], package["cost"]["idle_bytes"]);
  EXPECT_GT(package["cost"]["folder_bytes"], package["cost"]["model_bytes"]);
  // The third of the lines bypasses the model.
  EXPECT_EQ(package["cost"]["latency_lines"], 2);
  EXPECT_LE(package["cost"]["latency_ms"]["p50"], package["cost"]["latency_ms"]["p99"]);
  EXPECT_FALSE(package.contains("against_baseline"));
}

TEST_F(EvaluateTest, HoldsAPackageToABaseline) {
  const Json report = Json::parse(evaluate({"--json", "--baseline", test_package()}).out);
  ASSERT_EQ(report["packages"].size(), 2u);
  EXPECT_FALSE(report["packages"][0].contains("against_baseline"));
  const Json& comparison = report["packages"][1]["against_baseline"];
  EXPECT_EQ(comparison["equal_lines"], 3);
  EXPECT_EQ(comparison["equal_share"], 1.0);
  EXPECT_EQ(comparison["bleu_difference"], 0.0);
  EXPECT_THAT(comparison["differences"], IsEmpty());
}

TEST_F(EvaluateTest, GivesTheSameQualityEachTime) {
  const Json first = Json::parse(evaluate({"--json"}).out);
  const Json second = Json::parse(evaluate({"--json", "--batch-size", "1"}).out);
  EXPECT_EQ(first["packages"][0]["quality"], second["packages"][0]["quality"]);
}

TEST_F(EvaluateTest, WritesMarkdownWithAColumnForEachPackage) {
  const Outcome outcome = evaluate({"--markdown", "--baseline", test_package()});
  EXPECT_THAT(outcome.out, HasSubstr("|---|--:|--:|\n| BLEU | 100.00 | 100.00 |\n"));
  EXPECT_THAT(outcome.out, HasSubstr("| lines with the baseline's tokens | – | 100.0 % (3) |"));
}

TEST_F(EvaluateTest, DrawsQualityAgainstSizeAndSpeed) {
  const std::string picture = (folder_ / "quality.svg").string();
  EXPECT_EQ(evaluate({"--svg", picture}).status, 0);
  const std::string svg = test::content_of(picture);
  EXPECT_THAT(svg, HasSubstr("Quality against size"));
  EXPECT_THAT(svg, HasSubstr("Quality against speed"));
}

TEST_F(EvaluateTest, LetsTheTokenizerBeChosen) {
  EXPECT_THAT(evaluate({"--tokenizer", "13a"}).out, HasSubstr("tok:13a"));
  EXPECT_EQ(evaluate({"--tokenizer", "flores"}).status, 2);
}

TEST_F(EvaluateTest, RefusesFilesOfDifferentLength) {
  reference_ = folder_.write("reference", "早上好。\n").string();
  const Outcome outcome = evaluate();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]*source has 3 lines and "
                                        "[^\n]*reference has 1; give one reference a line\n"));
}

TEST_F(EvaluateTest, RefusesFilesWithoutLines) {
  source_ = reference_ = folder_.write("empty", "").string();
  const Outcome outcome = evaluate();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("empty: the file has no lines; --source needs at least one"));
}

TEST_F(EvaluateTest, NamesABaselineThatIsNotThereBeforeAnyWork) {
  const Outcome outcome = evaluate({"--baseline", (folder_ / "nowhere").string()});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("nowhere"));
}

TEST_F(EvaluateTest, PassesOnWhatIsWrongWithAPackage) {
  std::filesystem::create_directory(folder_ / "hollow");
  const Outcome outcome = evaluate({"--baseline", (folder_ / "hollow").string()});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]*hollow[^\n]*\n"));
}

TEST_F(EvaluateTest, ReplacesBrokenUtf8) {
  source_ = folder_.write("source", "Good \xff morning.\n\xc3\n42\n").string();
  EXPECT_EQ(evaluate().status, 0);
}

TEST_F(EvaluateTest, EndsWithItsProcessesWhenItIsToldTo) {
  use_a_long_text();
  Program program({"evaluate", test_package(), "--source", source_, "--reference", reference_}, {});
  const std::vector<int> children = children_of(program);
  ASSERT_FALSE(children.empty());
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().status, 128 + SIGTERM);
  EXPECT_TRUE(ended(children.front()));
}

TEST_F(EvaluateTest, TellsWhenAPackagesProcessIsKilled) {
  use_a_long_text();
  Program program({"evaluate", test_package(), "--source", source_, "--reference", reference_}, {});
  const std::vector<int> children = children_of(program);
  ASSERT_FALSE(children.empty());
  ::kill(children.front(), SIGKILL);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 9);
  EXPECT_THAT(outcome.err, HasSubstr("most likely for want of memory"));
}

}  // namespace
}  // namespace sampan::cli
