#include "verify/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"
#include "verify/verification_file.h"

namespace sampan::verify {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Report, IsOnlyAsGoodAsItsWorstCheck) {
  Report report;
  EXPECT_EQ(report.verdict(), Outcome::kNotChecked);  // nothing was looked at
  report.checks.push_back(passed("files", ""));
  EXPECT_EQ(report.verdict(), Outcome::kPassed);
  report.checks.push_back(not_checked("graphs", "no reference"));
  EXPECT_EQ(report.verdict(), Outcome::kNotChecked);
  report.checks.push_back(failed("tokens", "other"));
  EXPECT_EQ(report.verdict(), Outcome::kFailed);
}

TEST(Check, FailsAboveItsLimitAndForWhatIsNoNumber) {
  EXPECT_EQ(limited("a", 1e-5, 1e-5, "").outcome, Outcome::kPassed);
  EXPECT_EQ(limited("a", 1.1e-5, 1e-5, "").outcome, Outcome::kFailed);
  EXPECT_EQ(limited("a", std::nan(""), 1e-5, "").outcome, Outcome::kFailed);
  EXPECT_EQ(limited("a", std::numeric_limits<double>::infinity(), 1e-5, "").outcome,
            Outcome::kFailed);
}

TEST(Report, TellsFiguresLimitsAndPlaces) {
  Report report;
  report.checks = {limited("encoder.states", 2.5e-6, 1e-4, "row 3"), failed("files", "damaged")};
  const std::string text = format_text(report);
  EXPECT_THAT(text, HasSubstr("encoder.states"));
  EXPECT_THAT(text, HasSubstr("2.5e-06 <= 0.0001"));
  EXPECT_THAT(text, HasSubstr("row 3"));
  EXPECT_THAT(text, HasSubstr("problems: 1 of 2 checks failed"));
}

TEST(Report, TellsWhereAGraphGoesWrong) {
  Report report;
  report.checks = {failed("encoder.states", "")};
  report.places = {
      {"encoder", "encoder.layers.1.fc1", "bias", "/layers.1/fc1/Add", 0.5, 1e-4, "row 3"}};
  report.inner_values = {{"encoder", "encoder.layers.1.fc1", 0.5, std::nan("")}};
  EXPECT_THAT(format_text(report),
              HasSubstr("encoder: encoder.layers.1.fc1, bias (node '/layers.1/fc1/Add'): 0.5"));
  const Json json = Json::parse(format_json(report));
  EXPECT_EQ(json["places"][0]["part"], "bias");
  EXPECT_EQ(json["inner_values"][0]["relative_error"], "nan");
}

TEST(Report, ShowsTheFirstLinesThatDifferFromTheBaseline) {
  Report report;
  report.checks = {failed("baseline", "of 9 lines are not as recorded")};
  for (std::size_t line = 1; line <= 7; ++line)
    report.line_differences.push_back(
        {line, "a\x1b[2J", "b", "c", 2, "3 'x'", "nothing", line == 1});
  const std::string text = format_text(report);
  EXPECT_THAT(text, HasSubstr("line 1, with an equal score, differs at its token 2: 3 'x' for "
                              "nothing\n    source    a [2J\n    found     b\n"));
  EXPECT_THAT(text, HasSubstr("2 more lines differ"));
  const Json json = Json::parse(format_json(report));
  ASSERT_EQ(json["line_differences"].size(), 7u);
  EXPECT_EQ(json["line_differences"][6]["recorded_token"], "nothing");
}

TEST(Report, TellsLatencyInWordsAndNumbers) {
  Report report;
  EXPECT_TRUE(Json::parse(format_json(report))["latency"].is_null());
  report.latency.emplace();
  report.latency->runs = 2;
  report.latency->wall = {1.5, 2.5, 2.5};
  report.latency->drift = -0.25;
  report.latency->wall_ms = {2.5, 1.23456789};
  EXPECT_THAT(format_text(report), HasSubstr("drift -25.0 %"));
  EXPECT_THAT(format_text(report), HasSubstr("throttling: cannot be known"));
  const Json json = Json::parse(format_json(report))["latency"];
  EXPECT_EQ(json["wall"]["p90"], 2.5);
  EXPECT_TRUE(json["throttled"].is_null());
  EXPECT_EQ(json["wall_ms"], (Json{2.5, 1.2346}));
}

TEST(Report, IsJsonWhateverItsFiguresAndTexts) {
  Report report;
  report.manifest_sha256 = "abc";
  report.checks = {limited("logits", std::numeric_limits<double>::infinity(), 1e-5, "\xff\"\n")};
  const Json json = Json::parse(format_json(report));
  EXPECT_EQ(json["verdict"], "problems");
  EXPECT_EQ(json["manifest_sha256"], "abc");
  EXPECT_EQ(json["checks"][0]["figure"], "inf");
  EXPECT_EQ(json["checks"][0]["limit"], 1e-5);
}

TEST(VerificationFile, ReplacesTheEarlierOneAndLeavesNothingElse) {
  const test::TemporaryFolder folder;
  Report report;
  report.checks = {failed("files", "damaged")};
  write_verification(folder.path(), report);
  report.checks = {passed("files", "")};
  write_verification(folder.path(), report);
  EXPECT_EQ(Json::parse(test::content_of(folder / "verification.json"))["verdict"], "passed");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace sampan::verify
