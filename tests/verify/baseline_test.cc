#include "verify/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sampan/exporter.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::verify {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kSource = kSourceFolder;
const fs::path kRecording = kSource / "tests/data/verify/transformers.jsonl";

/// The bundled model's package, made once.
class BaselineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<test::TemporaryFolder>();
    export_checkpoint(kSource / "models/tatoeba-en-zh", *folder_ / "package");
    translator_ =
        std::make_unique<const Translator>(Translator::load(*folder_ / "package", LoadOptions{}));
    tokenizer_ = text::open_tokenizer(*folder_ / "package", "marian");
  }
  static void TearDownTestSuite() {
    tokenizer_.reset();
    translator_.reset();
    folder_.reset();
  }

  static BaselineFindings check(const std::vector<BaselineLine>& lines, double allowed = 0.0) {
    return check_baseline({*translator_, *tokenizer_, lines, allowed, {}, {}, {}});
  }

  static inline std::unique_ptr<test::TemporaryFolder> folder_;
  static inline std::unique_ptr<const Translator> translator_;
  static inline std::unique_ptr<const text::Tokenizer> tokenizer_;
};

TEST_F(BaselineTest, WhatTransformersRecordedIsTranslatedLikewise) {
  const std::vector<BaselineLine> lines = read_baseline(kRecording);
  ASSERT_EQ(lines.size(), 6u);
  const BaselineFindings findings = check(lines);
  EXPECT_EQ(findings.check.outcome, Outcome::kPassed) << findings.check.detail;
  EXPECT_THAT(findings.differences, IsEmpty());
  const auto ours = translator_->translate("Hello.");
  EXPECT_NEAR(ours.score, lines.front().score.value(), 1e-5);
}

TEST_F(BaselineTest, TheFirstTokenThatDiffersIsToldWithBothTexts) {
  std::vector<BaselineLine> lines = read_baseline(kRecording);
  lines[2].tokens->at(3) = 12;
  lines[2].translation = "recorded";
  lines[2].score = -2.0;
  lines[4].tokens->pop_back();
  lines[4].score = -2.0;
  const BaselineFindings findings = check(lines);
  EXPECT_EQ(findings.check.outcome, Outcome::kFailed);
  EXPECT_EQ(findings.check.figure, 2);
  EXPECT_THAT(findings.check.detail, HasSubstr("the first is line 3"));
  ASSERT_EQ(findings.differences.size(), 2u);
  const LineDifference& first = findings.differences[0];
  EXPECT_EQ(first.line, 3u);
  EXPECT_EQ(first.token, 4u);
  EXPECT_THAT(first.found_token, HasSubstr("4170 '"));
  EXPECT_THAT(first.recorded_token, HasSubstr("12 '"));
  EXPECT_EQ(first.recorded, "recorded");
  EXPECT_THAT(first.found, HasSubstr("弟弟"));
  EXPECT_EQ(findings.differences[1].recorded_token, "nothing");
}

TEST_F(BaselineTest, AnotherTranslationOfEqualScoreIsNoFault) {
  std::vector<BaselineLine> lines = read_baseline(kRecording);
  lines[0].tokens->at(0) = 12;
  const BaselineFindings findings = check(lines);
  EXPECT_EQ(findings.check.outcome, Outcome::kPassed);
  EXPECT_THAT(findings.check.detail, HasSubstr("1 more differ with an equal score"));
  ASSERT_EQ(findings.differences.size(), 1u);
  EXPECT_TRUE(findings.differences[0].equal_scores);
}

TEST_F(BaselineTest, AsManyLinesAsTheLimitAllowsMayDiffer) {
  std::vector<BaselineLine> lines = read_baseline(kRecording);
  for (const std::size_t line : {1u, 2u}) {
    lines[line].tokens->at(0) = 12;
    lines[line].score = -2.0;
  }
  const BaselineFindings allowed = check(lines, 0.4);
  EXPECT_EQ(allowed.check.outcome, Outcome::kPassed) << allowed.check.detail;
  EXPECT_EQ(allowed.check.figure, 2);
  EXPECT_EQ(allowed.check.limit, 2);
  EXPECT_EQ(allowed.differences.size(), 2u);
  const BaselineFindings beyond = check(lines, 0.3);
  EXPECT_EQ(beyond.check.outcome, Outcome::kFailed);
  EXPECT_EQ(beyond.check.limit, 1);
}

TEST_F(BaselineTest, WithoutTokensTheTextsAreCompared) {
  const auto lines = parse_baseline(
      "{\"source\": \"Hello.\", \"translation\": \"嗨。\"}\n\n"
      "{\"source\": \"Hello.\", \"translation\": \"嗨!\"}",
      "x.jsonl");
  const BaselineFindings findings = check(lines);
  EXPECT_EQ(findings.check.figure, 1);
  EXPECT_EQ(findings.differences.at(0).line, 2u);
  EXPECT_EQ(findings.differences.at(0).token, 0u);
}

TEST_F(BaselineTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const std::vector<BaselineLine> lines = read_baseline(kRecording);
  EXPECT_EQ(test::caught_error([&] {
              check_baseline({*translator_, *tokenizer_, lines, 0.0, {}, {}, stop.get_token()});
            }).code(),
            ErrorCode::kCancelled);
}

TEST(ParseBaseline, SaysWhichLineIsNoRecordingAndWhy) {
  const std::string good = "{\"source\": \"a\", \"translation\": \"b\"}\n";
  const auto message = [&](const std::string& line) {
    const Error error = test::caught_error([&] { parse_baseline(good + line, "x.jsonl"); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << line;
    EXPECT_THAT(error.what(), HasSubstr("x.jsonl: line 2 "));
    return std::string(error.what());
  };
  EXPECT_THAT(message("Hello."), HasSubstr("is not JSON: 'Hello.'"));
  EXPECT_THAT(message("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(message("{\"source\": \"a\"}"), HasSubstr("no text 'translation'"));
  EXPECT_THAT(message("{\"source\": 1, \"translation\": \"b\"}"), HasSubstr("no text 'source'"));
  const std::string start = "{\"source\": \"a\", \"translation\": \"b\", ";
  EXPECT_THAT(message(start + "\"tokens\": 5}"), HasSubstr("tokens that are no list"));
  EXPECT_THAT(message(start + "\"tokens\": [1.5]}"), HasSubstr("no whole number: '1.5'"));
  EXPECT_THAT(message(start + "\"score\": \"x\"}"), HasSubstr("score that is no number"));
  EXPECT_THAT(message(start + "\"split\": 0}"), HasSubstr("not true or false"));
  message(std::string(100000, '['));
  EXPECT_EQ(test::caught_error([] { parse_baseline("\n \n", "x.jsonl"); }).code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sampan::verify
