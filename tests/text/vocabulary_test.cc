#include "text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sampan/error.h"

namespace sampan::text {
namespace {

using ::testing::HasSubstr;

std::string problem_of(std::string_view json) {
  try {
    Vocabulary::parse(json, "folder/vocab.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_THAT(error.what(), HasSubstr("folder/vocab.json: "));
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(Vocabulary, FindsPiecesAndIdsBothWays) {
  const auto vocabulary = Vocabulary::parse(R"({"</s>": 0, "\u2581the": 2, "你": 1})", "v");
  EXPECT_EQ(vocabulary.size(), 3U);
  EXPECT_EQ(vocabulary.id_limit(), 3);
  EXPECT_EQ(vocabulary.find("▁the"), 2);
  EXPECT_EQ(vocabulary.piece(1), "你");
  EXPECT_FALSE(vocabulary.find("the"));
  EXPECT_FALSE(vocabulary.find(""));
  EXPECT_EQ(vocabulary.piece(3), "");
  EXPECT_EQ(vocabulary.piece(-1), "");
  EXPECT_EQ(vocabulary.piece(INT64_MIN), "");
}

// OPUS-MT's conversion drops pieces that YAML takes for the same key and leaves their ids out.
TEST(Vocabulary, GapsBetweenIdsAreFine) {
  const auto vocabulary = Vocabulary::parse(R"({"a": 0, "b": 7})", "v");
  EXPECT_EQ(vocabulary.id_limit(), 8);
  EXPECT_EQ(vocabulary.piece(3), "");
  EXPECT_EQ(vocabulary.find("b"), 7);
}

TEST(Vocabulary, ReadsNumbersThatThePlainReaderDeclines) {
  const auto vocabulary = Vocabulary::parse(R"({"a": 0, "b": 1, "\ud83d\ude00": 2})", "v");
  EXPECT_EQ(vocabulary.find("😀"), 2);
  EXPECT_THAT(problem_of(R"({"a": 1, "b": 1000000000000000000})"), HasSubstr("'b' is beyond"));
}

TEST(Vocabulary, RefusesWhatIsNoObjectOfIds) {
  EXPECT_THAT(problem_of(R"(["a"])"), HasSubstr("an array where an object of piece to id is due"));
  EXPECT_THAT(problem_of("12"), HasSubstr("a number where an object"));
  EXPECT_THAT(problem_of(R"({"a": "0"})"), HasSubstr("a text where the id of 'a' is due"));
  EXPECT_THAT(problem_of(R"({"a": null})"), HasSubstr("null where the id of 'a'"));
  EXPECT_THAT(problem_of(R"({"a": true})"), HasSubstr("a boolean where the id of 'a'"));
  EXPECT_THAT(problem_of(R"({"a": {"b": 1}})"), HasSubstr("an object where the id of 'a'"));
  EXPECT_THAT(problem_of(R"({"a": [1]})"), HasSubstr("an array where the id of 'a'"));
  EXPECT_THAT(problem_of(R"({"a": 1.5})"), HasSubstr("'a' has the id 1.5"));
  EXPECT_THAT(problem_of(R"({"a": 1e999})"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problem_of(R"({"a": -3})"), HasSubstr("'a' has the id -3"));
}

TEST(Vocabulary, RefusesIdsAndPiecesGivenTwice) {
  EXPECT_THAT(problem_of(R"({"a": 0, "b": 0})"), HasSubstr("id 0 belongs to 'a' and to 'b'"));
  EXPECT_THAT(problem_of(R"({"a": 0, "a": 1})"), HasSubstr("'a' is given twice"));
  EXPECT_THAT(problem_of("{\"x\\ny\": 0, \"x\\ny\": 1}"), HasSubstr("'x\\x0ay' is given twice"));
}

// An id decides how much is allocated: it must be in proportion to the file.
TEST(Vocabulary, RefusesIdsBeyondTheFile) {
  EXPECT_THAT(problem_of(R"({"a": 4000000000})"), HasSubstr("id 4000000000 of 'a' is beyond"));
  EXPECT_THAT(problem_of(R"({"a": 18446744073709551615})"), HasSubstr("is beyond"));
  EXPECT_THAT(problem_of(R"({"a": 7})"), HasSubstr("accepted"));
}

TEST(Vocabulary, RefusesBrokenText) {
  EXPECT_THAT(problem_of(""), HasSubstr("is empty"));
  EXPECT_THAT(problem_of(R"({"a": 0)"), HasSubstr("not valid JSON at byte"));
  EXPECT_THAT(problem_of(R"({"a": 0} x)"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problem_of("{\"\xff\": 0}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problem_of("{\"\\ud800\": 0}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problem_of("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("Git LFS pointer"));
  EXPECT_THAT(problem_of("<!DOCTYPE html>"), HasSubstr("web page"));
}

TEST(Vocabulary, NestingDoesNotExhaustTheStack) {
  EXPECT_THAT(problem_of(std::string(1'000'000, '[')), HasSubstr("an array where"));
}

TEST(Vocabulary, AnEmptyObjectHasNoPieces) {
  const auto vocabulary = Vocabulary::parse("{}", "v");
  EXPECT_EQ(vocabulary.size(), 0U);
  EXPECT_FALSE(vocabulary.find("a"));
  EXPECT_EQ(vocabulary.piece(0), "");
}

}  // namespace
}  // namespace sampan::text
