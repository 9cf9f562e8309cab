#include "text/text_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sampan/error.h"
#include "text/characters.h"
#include "text/joiner.h"

namespace sampan::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TextPlanOptions to(std::string language) {
  TextPlanOptions options;
  options.source_language = "eng";
  options.target_language = std::move(language);
  return options;
}

// "Translates" each sentence by putting it into brackets.
AssembledText bracketed(std::string_view text, const TextPlanOptions& options = to("zho")) {
  const TextPlan plan = plan_text(text, options);
  std::vector<std::string> translations;
  for (const std::string_view sentence : plan.sentences())
    translations.push_back("[" + std::string(sentence) + "]");
  return plan.assemble(translations);
}

TEST(TextPlan, TextWithoutLettersComesBackAsItIs) {
  for (const char* text : {"", "   ", "12", "7 8 9", "2024-05-01", "!!!", "\t\u3000\u00A0", "\n\n",
                           "😀👍🏽 🇨🇳", "3.14 € + 5 %", "①②③", "(…) — 5°", "\u200B",
                           "\uFFFD", "**12** / 7."}) {
    EXPECT_THAT(plan_text(text, to("zho")).sentences(), IsEmpty()) << text;
    EXPECT_EQ(bracketed(text).text, text);
    TextPlanOptions whole = to("zho");
    whole.split_sentences = false;
    EXPECT_EQ(bracketed(text, whole).text, text);
  }
}

TEST(TextPlan, LineBreaksAndBlankLinesAreKept) {
  EXPECT_EQ(bracketed("Well done!!!\n\n").text, "[Well done!!!]\n\n");
  EXPECT_EQ(bracketed("First line.\n\n\nFourth line.").text, "[First line.]\n\n\n[Fourth line.]");
  EXPECT_EQ(bracketed("A.\r\nB.\rC.\u2028D.").text, "[A.]\r\n[B.]\r[C.]\u2028[D.]");
  EXPECT_EQ(bracketed("  A.  \n\tB. ").text, "  [A.]  \n\t[B.] ");
}

TEST(TextPlan, SentencesAreJoinedAsTheTargetIsWritten) {
  EXPECT_EQ(bracketed("One.  Two. Three.").text, "[One.][Two.][Three.]");
  EXPECT_EQ(bracketed("One.  Two. Three.", to("deu")).text, "[One.] [Two.] [Three.]");
  EXPECT_EQ(bracketed("你好。再见。", to("en")).text, "[你好。] [再见。]");
}

TEST(TextPlan, PartsWithoutLettersPassThroughBetweenSentences) {
  EXPECT_EQ(bracketed("Great! 😀 👍").text, "[Great!]😀 👍");
  EXPECT_EQ(bracketed("Great! 😀", to("deu")).text, "[Great!] 😀");
  EXPECT_EQ(bracketed("He won. 12! 34! Yes.").text, "[He won.]12! 34![Yes.]");
}

TEST(TextPlan, RangesNameEachSentenceOnBothSides) {
  const std::string text = " One two.  三。\n4";
  const AssembledText assembled = bracketed(text);
  EXPECT_EQ(assembled.text, " [One two.][三。]\n4");
  ASSERT_EQ(assembled.sentences.size(), 3U);
  EXPECT_EQ(part_of(text, assembled.sentences[0].source), "One two.");
  EXPECT_EQ(part_of(assembled.text, assembled.sentences[0].target), "[One two.]");
  EXPECT_EQ(part_of(text, assembled.sentences[1].source), "三。");
  EXPECT_EQ(part_of(assembled.text, assembled.sentences[1].target), "[三。]");
  EXPECT_EQ(part_of(text, assembled.sentences[2].source), "4");
  EXPECT_EQ(part_of(assembled.text, assembled.sentences[2].target), "4");
}

TEST(TextPlan, AnOverlongSentenceIsCutAndStaysOneSentence) {
  TextPlanOptions options = to("deu");
  options.max_tokens = 3;
  options.count_tokens = [](std::string_view text) {  // words and the end of the sentence
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 2;
  };
  const AssembledText assembled = bracketed("One two, three four five six. Seven.", options);
  EXPECT_EQ(assembled.text, "[One two,] [three four] [five six.] [Seven.]");
  ASSERT_EQ(assembled.sentences.size(), 2U);
  EXPECT_EQ(assembled.sentences[0].source, (ByteRange{0, 29}));
  EXPECT_EQ(assembled.sentences[0].target, (ByteRange{0, 35}));
}

TEST(TextPlan, WithoutSplittingTheTextIsOneSentence) {
  TextPlanOptions options = to("zho");
  options.split_sentences = false;
  const TextPlan plan = plan_text(" One. Two.\nThree. ", options);
  EXPECT_THAT(plan.sentences(), ElementsAre(" One. Two.\nThree. "));
  EXPECT_EQ(plan.assemble(std::vector<std::string>{"译"}).text, "译");
}

TEST(TextPlan, SkippedBytesAreNeitherTranslatedNorReturned) {
  for (const bool split : {true, false}) {
    TextPlanOptions options = to("fra");
    options.split_sentences = split;
    options.skip = 7;
    EXPECT_EQ(bracketed(">>fra<< One.", options).text, "[One.]");
    EXPECT_EQ(bracketed(">>fra<<", options).text, "");
    EXPECT_EQ(bracketed(">>fra<< 12", options).text, "12");
  }
}

TEST(TextPlan, ASentenceWithAnEmptyTranslationPassesThrough) {
  const TextPlan plan = plan_text("One. Two.", to("zho"));
  EXPECT_EQ(plan.assemble(std::vector<std::string>{"", "二。"}).text, "One.二。");
}

TEST(TextPlan, RefusesAWrongNumberOfTranslations) {
  const TextPlan plan = plan_text("One. Two.", to("zho"));
  EXPECT_THROW(plan.assemble(std::vector<std::string>{"一。"}), Error);
}

TEST(SentenceJoiner, KnowsLanguagesThatPutNothingBetweenSentences) {
  for (const char* language :
       {"zh", "zho", "ZH-HANS", "zh_Hant", "zh-CN", "zt", "cmn_Hans", "yue", "ja", "jpn"})
    EXPECT_EQ(sentence_joiner(language), "") << language;
  for (const char* language : {"", "en", "eng", "deu", "tha", "kor", "zha", "jav"})
    EXPECT_EQ(sentence_joiner(language), " ") << language;
}

}  // namespace
}  // namespace sampan::text
