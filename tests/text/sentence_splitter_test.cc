#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "text/characters.h"

namespace sampan::text {
namespace {

using Texts = std::vector<std::string>;

Texts split(std::string_view text, std::string_view language = "eng") {
  Texts sentences;
  for (const ByteRange& range : split_sentences(text, language))
    sentences.emplace_back(part_of(text, range));
  return sentences;
}

struct Case {
  const char* name;
  const char* language;
  Texts sentences;  // with one space between them they are the text
};

class Sentences : public ::testing::TestWithParam<Case> {};

TEST_P(Sentences, AreFoundInTheTextThatTheyMakeUp) {
  const Case& expected = GetParam();
  std::string text;
  for (const std::string& sentence : expected.sentences)
    text += (text.empty() ? "" : " ") + sentence;
  EXPECT_EQ(split(text, expected.language), expected.sentences) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Sentences,
    ::testing::Values(
        Case{"AbbreviationsAreNoEnds", "eng", {"Dr. Smith met Ms. Lee, e.g. on Jan. 13."}},
        Case{"Titles", "eng", {"Prof. J. K. Rowling met Mr. and Mrs. Lee.", "St. John came too."}},
        Case{"Initials", "eng", {"J. K. Rowling wrote it.", "We read it."}},
        Case{"LetterAtTheEnd", "eng", {"It is plan B.", "We know it."}},
        Case{
            "NumberAfterNo", "eng", {"See No. 5 and fig. 3 on p. 12.", "He said no.", "Tom left."}},
        Case{"Months", "eng", {"On Sept. 3 it rained.", "It stopped in Oct.", "The sun came."}},
        Case{"CountryMayEnd", "eng", {"The U.S. Army came.", "They left the U.S.", "He stayed."}},
        Case{"EtcMayEnd",
             "eng",
             {"Bring pens, paper, etc. to class.", "We have cups, etc.", "You may sit."}},
        Case{"TimeOfDay", "eng", {"Come at 5 p.m. on Friday.", "It is 7 a.m.", "The bus left."}},
        Case{"Versus", "eng", {"It was Smith vs. Jones.", "Smith won."}},
        Case{"Decimals", "eng", {"Pi is 3.14 or so.", "Version 2.0.1 is out."}},
        Case{"NumberAtTheEnd", "eng", {"It was 1999.", "Then came 2000."}},
        Case{"EllipsisBeforeSmallLetter", "eng", {"Wait... what is this?"}},
        Case{"EllipsisBeforeI", "eng", {"I... I don't know.", "Well… I see."}},
        Case{"EllipsisBeforeCapital",
             "eng",
             {"He waited...", "Nobody came.", "She slept…", "Then she woke."}},
        Case{"QuestionsAndCries", "eng", {"What?!", "No way!!!", "Yes."}},
        Case{"QuotationAfterStop",
             "eng",
             {"“It is late.”", "She left.", "(He stayed.)", "All slept."}},
        Case{"QuotedCryGoesOn", "eng", {"\"Stop!\" he said.", "‘Why?’ she asked."}},
        Case{"NameWithCry", "eng", {"I use Yahoo! every day.", "So do I.", "He does not."}},
        Case{"OpeningQuotation", "eng", {"He nodded.", "\"Fine,\" he said."}},
        Case{"ListNumbers", "eng", {"1. Open the door.", "2. Close it."}},
        Case{"Footnote", "eng", {"It rained.[1] The sun came."}},
        Case{"Address", "eng", {"See https://a.example/?B=1&C=2 now.", "Write to A.B@c.example!"}},
        Case{"NoSpaceNoEnd", "eng", {"Go!Now is a magazine."}},
        Case{"StrayPunctuation", "eng", {"He left. \""}},
        Case{"LeadingPunctuation", "eng", {"... Then he left.", "Good."}},
        Case{"EmojiStandsAlone", "eng", {"Great!", "😀"}},
        Case{"GermanOrdinals", "deu", {"Am 3. Mai kam er.", "Er blieb."}},
        Case{"GermanQuotes", "deu", {"„Es ist spät.“", "Sie ging."}},
        Case{"SpanishQuestion", "spa", {"Hola.", "¿Qué tal?", "¡Muy bien!"}},
        Case{"GreekQuestion", "ell", {"Τι είναι αυτό;", "Δεν ξέρω."}},
        Case{"Russian", "rus", {"Он ушёл.", "Она А. С. Пушкина читает."}},
        Case{"Hindi", "hin", {"यह घर है।", "वह आया।"}},
        Case{"UnknownLanguage", "", {"Mr. Lee came.", "He left."}}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(SplitSentences, ChineseNeedsNoSpaces) {
  EXPECT_EQ(split("你好。今天怎么样？很好！我们走吧……然后呢", "zho"),
            (Texts{"你好。", "今天怎么样？", "很好！", "我们走吧……然后呢"}));
  EXPECT_EQ(split("他说：“好。”然后走了。（真的。）她笑了。", "zho"),
            (Texts{"他说：“好。”", "然后走了。", "（真的。）", "她笑了。"}));
  EXPECT_EQ(split("「行くよ。」彼は言った。雨です。", "jpn"),
            (Texts{"「行くよ。」", "彼は言った。", "雨です。"}));
  EXPECT_EQ(split("你好。“再见。”", "zho"), (Texts{"你好。", "“再见。”"}));
  EXPECT_EQ(split("你好!他走了?是的.", "zho"), (Texts{"你好!", "他走了?", "是的."}));
}

TEST(SplitSentences, AParagraphOfEightSentencesIsEight) {
  const Texts sentences = split(
      "The market opens at six. Dr. Brown buys apples, pears, and plums, e.g. for his three "
      "sons. \"Are they fresh?\" he asks. They cost 3.50 dollars today! Last week, on Jan. "
      "13, they were cheaper. Why? Nobody knows, not even Mr. Lee of the U.S. Department of "
      "Agriculture. So he pays and goes home.");
  EXPECT_EQ(sentences.size(), 8U) << ::testing::PrintToString(sentences);
}

TEST(SplitSentences, LeavesWhiteSpaceOut) {
  EXPECT_EQ(split("  One.  \t Two.  "), (Texts{"One.", "Two."}));
  EXPECT_EQ(split("One.\u00A0Two.\u3000Three."), (Texts{"One.", "Two.", "Three."}));
  EXPECT_EQ(split("One. \u200BTwo."), (Texts{"One.", "Two."}));
  EXPECT_EQ(split(""), Texts{});
  EXPECT_EQ(split(" \t "), Texts{});
  EXPECT_EQ(split("!!!"), Texts{"!!!"});
}

TEST(SplitSentences, TimeGrowsWithTheLengthAlone) {
  const std::vector<std::string> units = {"a. ",  ". ",  "… ",   "\" ",    "(",   "1. ",    "A. ",
                                          "x.y ", "。”", "((! ", ". \" (", "...", "\u3000", "字"};
  for (const std::string& unit : units) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const auto sentences = split_sentences(text + "Yes.", "en");
    EXPECT_FALSE(sentences.empty());
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << unit;
  }
}

}  // namespace
}  // namespace sampan::text
