#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
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

class ScoreTest : public ::testing::Test {
 protected:
  Outcome score(const std::string& source, const std::string& target,
                const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"score",    test_package(),
                                          "--source", folder_.write("source", source).string(),
                                          "--target", folder_.write("target", target).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }
  TemporaryFolder folder_;
};

TEST_F(ScoreTest, GivesTheSumAndEachTokensLogProbability) {
  const Outcome outcome = score("Good morning.\nGood morning.\n", "早上好。\n我叫汤姆。\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, MatchesRegex("-[0-9.]+\t(-[0-9.]+ ?)+\n-[0-9.]+\t(-[0-9.]+ ?)+\n"));
  EXPECT_GT(std::stod(outcome.out), std::stod(outcome.out.substr(outcome.out.find('\n'))));
}

TEST_F(ScoreTest, AgreesWithTheSearchThatFoundTheTranslation) {
  const Outcome found = run_program({"translate", test_package(), "--quiet", "--greedy", "--json"},
                                    {.input = "My name is Tom.\n"});
  const Json translation = Json::parse(found.out);
  const Outcome outcome =
      score("My name is Tom.\n", translation["translation"].get<std::string>() + "\n", {"--json"});
  const Json given = Json::parse(outcome.out);
  EXPECT_EQ(given["tokens"], translation["tokens"]);
  const double mean = given["score"].get<double>() / static_cast<double>(given["tokens"].size());
  EXPECT_NEAR(mean, translation["score"].get<double>(), 1e-4);
}

TEST_F(ScoreTest, RefusesFilesOfDifferentLength) {
  const Outcome outcome = score("One.\nTwo.\n", "一。\n");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the source goes on after line 1, where the target"));
  EXPECT_THAT(score("One.\n", "一。\n二。\n").err, HasSubstr("the target goes on after line 1"));
}

TEST_F(ScoreTest, TakesNoFlagThatItWouldIgnore) {
  for (const std::string flag : {"--no-split", "--no-length-guard", "--target-prefix=x"})
    EXPECT_EQ(score("One.\n", "一。\n", {flag}).status, 2) << flag;
}

TEST(Program, ShowsItsVersionItsRuntimeAndTheProcessor) {
  const Outcome outcome = run_program({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, MatchesRegex("sampan [0-9.]+\nONNX Runtime 1\\.[0-9.]+\n"
                                        "processor: [^\n]+\nthreads: [0-9]+\n"));
}

TEST(Program, ExplainsItselfOnStdout) {
  const Outcome outcome = run_program({"translate", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("--no-repeat-ngram-size"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\n\n\n")));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Program, NamesWhatItDoesNotUnderstandOnOneLine) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"no-such-command"}, {"translate"}, {"--wrong"}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+; see sampan[^\n]* --help\n"));
    if (!arguments.empty() && arguments.front() != "translate") {
      EXPECT_THAT(outcome.err, HasSubstr("'" + arguments.front() + "'"));
    }
  }
}

TEST(Program, TellsWhenItsAnswerCannotBeWritten) {
  EXPECT_EQ(run_program({"--version"}, {.output_path = "/dev/full"}).status, 9);
}

}  // namespace
}  // namespace sampan::cli
