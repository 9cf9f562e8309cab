#include "evaluate/quality.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::evaluate {
namespace {

Translation translation(std::string text, std::vector<std::int64_t> tokens) {
  Translation result;
  result.text = std::move(text);
  result.tokens = std::move(tokens);
  return result;
}

TEST(Quality, OfTheReferencesThemselvesIsPerfect) {
  const std::vector<std::string> references = {"今天天气很好。", "我叫汤姆。"};
  const std::vector<Translation> translations = {translation(references[0], {1, 0}),
                                                 translation(references[1], {2, 0})};
  const Quality quality = measure_quality(translations, references, BleuTokenizer::kZh);
  EXPECT_NEAR(quality.bleu.score, 100.0, 1e-9);
  EXPECT_NEAR(quality.chrf2, 100.0, 1e-9);
  EXPECT_DOUBLE_EQ(quality.length_ratio, 1.0);
  EXPECT_EQ(quality.repeating, 0u);
  EXPECT_EQ(quality.truncated, 0u);
}

TEST(Quality, TellsShortRepeatingAndTruncatedTranslations) {
  const std::vector<std::string> references = {"one two three four", "five six seven eight"};
  std::vector<Translation> translations = {translation("one two", {1, 2}),
                                           translation("six six", {3, 3})};
  translations[1].repeats = true;
  translations[0].truncated = translations[1].truncated = true;
  const Quality quality = measure_quality(translations, references, BleuTokenizer::k13a);
  EXPECT_DOUBLE_EQ(quality.length_ratio, 0.5);
  EXPECT_EQ(quality.repeating, 1u);
  EXPECT_EQ(quality.truncated, 2u);
}

TEST(Quality, NeedsAReferenceForEachLine) {
  const std::vector<Translation> translations(2);
  const std::vector<std::string> references = {"one"};
  const Error error =
      test::caught_error([&] { measure_quality(translations, references, BleuTokenizer::k13a); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
}

TEST(Differences, AreTheFirstTokensThatDifferLineByLine) {
  const std::vector<Translation> baseline = {translation("a", {1, 2, 0}), translation("b", {3, 0}),
                                             translation("c", {4, 5, 0})};
  const std::vector<Translation> ours = {translation("a", {1, 2, 0}), translation("d", {7, 0}),
                                         translation("c", {4, 5, 6, 0})};
  const auto found = differences(ours, baseline);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 1u);
  EXPECT_EQ(found[0].token, 0u);
  EXPECT_EQ(found[1].line, 2u);
  EXPECT_EQ(found[1].token, 2u);
}

TEST(Differences, AreFoundWhereOneTranslationIsTheBeginningOfTheOther) {
  const std::vector<Translation> baseline = {translation("ab", {1, 2}), translation("a", {1})};
  const std::vector<Translation> ours = {translation("a", {1}), translation("ab", {1, 2})};
  const auto found = differences(ours, baseline);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].token, 1u);
  EXPECT_EQ(found[1].token, 1u);
}

TEST(Differences, OfLinesWithoutTokensAreThoseOfTheirText) {
  const std::vector<Translation> baseline = {translation("123", {}), translation("!", {})};
  const std::vector<Translation> ours = {translation("123", {}), translation("?", {})};
  const auto found = differences(ours, baseline);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 1u);
}

TEST(Differences, NeedTheSameLines) {
  const std::vector<Translation> one(1), two(2);
  const Error error = test::caught_error([&] { differences(one, two); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
}

TEST(TokenizerFor, IsChosenByTheTextMostOfTheLinesHold) {
  EXPECT_EQ(tokenizer_for(std::vector<std::string>{"今天 OK", "天气很好。"}), BleuTokenizer::kZh);
  EXPECT_EQ(tokenizer_for(std::vector<std::string>{"Good 好 morning"}), BleuTokenizer::k13a);
  EXPECT_EQ(tokenizer_for(std::vector<std::string>{"", " "}), BleuTokenizer::k13a);
}

}  // namespace
}  // namespace sampan::evaluate
