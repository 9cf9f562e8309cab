#include "text/long_sentence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "text/characters.h"

namespace sampan::text {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// One token a character and one for the end of the sentence.
std::size_t count_characters(std::string_view text) {
  std::size_t count = 1;
  for (; !text.empty(); text.remove_prefix(first_character(text).length)) ++count;
  return count;
}

std::vector<std::string> cut(std::string_view text, std::size_t max_tokens) {
  std::vector<std::string> parts;
  for (const Segment& segment :
       cut_sentence(text, {0, text.size()}, max_tokens, count_characters)) {
    const bool translate = segment.kind == Segment::Kind::kTranslate;
    parts.push_back((translate ? "" : "=") + std::string(part_of(text, segment.source)));
  }
  return parts;
}

TEST(CutSentence, OneThatFitsComesBackWhole) {
  EXPECT_THAT(cut("One, two, three.", 17), ElementsAre("One, two, three."));
}

TEST(CutSentence, CutsAtClausesAndFillsEachSegment) {
  EXPECT_THAT(cut("One, two; three: four, five.", 16),
              ElementsAre("One, two;", "three: four,", "five."));
  EXPECT_THAT(cut("He said “no,” and left — at once.", 20),
              ElementsAre("He said “no,”", "and left — at once."));
}

TEST(CutSentence, NumbersAndAddressesAreNoClauses) {
  EXPECT_THAT(cut("It was 1,234,567 at 10:30, then less.", 28),
              ElementsAre("It was 1,234,567 at 10:30,", "then less."));
}

TEST(CutSentence, ChineseClausesNeedNoSpaces) {
  EXPECT_THAT(cut("今天很好，我们去公园、商店；然后：回家。", 10),
              ElementsAre("今天很好，", "我们去公园、商店；", "然后：回家。"));
}

TEST(CutSentence, CutsALongClauseAtWords) {
  EXPECT_THAT(cut("Short, but this clause is far too long for it.", 16),
              ElementsAre("Short,", "but this clause", "is far too long", "for it."));
}

TEST(CutSentence, CutsChineseBetweenWords) {
  const auto parts = cut("我们今天下午去北京大学图书馆看书", 7);
  std::string joined;
  for (const std::string& part : parts) {
    EXPECT_LE(count_characters(part), 7U);
    joined += part;
  }
  EXPECT_EQ(joined, "我们今天下午去北京大学图书馆看书");
  EXPECT_GE(parts.size(), 3U);
}

TEST(CutSentence, ARunThatNeverFitsPassesThrough) {
  const std::string address = "https://example.org/?q=" + std::string(3000, 'x') + ",y;z";
  EXPECT_THAT(cut("Please open " + address + " soon.", 64),
              ElementsAre("Please open", "=" + address, "soon."));
}

TEST(CutSentence, APartWithoutLettersPassesThrough) {
  EXPECT_THAT(cut("Numbers are, 1 2 3 4 5 6 7 8, as you see.", 18),
              ElementsAre("Numbers are,", "=1 2 3 4 5 6 7 8,", "as you see."));
}

TEST(CutSentence, LimitOfOneTokenPassesEverythingThrough) {
  EXPECT_THAT(cut("A b.", 1), ElementsAre("=A", "=b."));
}

TEST(CutSentence, CountsLittleMoreThanTheTextItself) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "word ";
  std::size_t counted = 0;
  const auto segments = cut_sentence(text, {0, text.size()}, 100, [&](std::string_view part) {
    counted += part.size();
    return count_characters(part);
  });
  EXPECT_THAT(segments, SizeIs(1000));
  EXPECT_LT(counted, 12 * text.size());
}

}  // namespace
}  // namespace sampan::text
