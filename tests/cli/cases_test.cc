// Inputs of a kind that users of other programs complained about, and what must hold for them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"

namespace sampan::cli {
namespace {

using ::testing::EndsWith;
using Json = nlohmann::json;

std::string translate(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"translate", test_package(), "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(std::move(arguments), {.input = input}).out;
}

Json translate_to_json(const std::string& line) {
  return Json::parse(translate(line + "\n", {"--json"}));
}

TEST(Cases, KeepBothLineBreaksOfAShortCry) {
  const std::string output = translate("Well done!!!\n\n");
  EXPECT_THAT(output, EndsWith("\n\n"));
  EXPECT_EQ(std::ranges::count(output, '\n'), 2);
  EXPECT_GT(output.size(), 2u);
}

TEST(Cases, KeepBlankLinesBetweenLines) {
  const std::string output = translate("First line.\n\n\nFourth line.");
  EXPECT_EQ(std::ranges::count(output, '\n'), 3);
  const std::size_t first_end = output.find('\n');
  EXPECT_GT(first_end, 0u);
  EXPECT_EQ(output.substr(first_end, 3), "\n\n\n");
  EXPECT_GT(output.size(), first_end + 3);
}

TEST(Cases, LoseNoSentenceOfAParagraph) {
  const Json line = translate_to_json(
      "I got up early this morning. The weather was fine, so I opened all the windows. My brother "
      "made coffee while I read the newspaper. Then we walked to the station together. The train "
      "was late, and many people were waiting. We met an old friend of our father there. He told "
      "us "
      "about his new job in the city. In the evening we came home tired but happy.");
  ASSERT_EQ(line["sentences"].size(), 8u);
  for (const Json& sentence : line["sentences"])
    EXPECT_LT(sentence["target"][0], sentence["target"][1]);
  EXPECT_EQ(std::ranges::count(line["tokens"], Json(0)), 8);  // ends of sentence
}

TEST(Cases, ReturnNumbersAndDatesAsTheyAre) {
  EXPECT_EQ(translate("12\n7 8 9\n2024-05-01\n"), "12\n7 8 9\n2024-05-01\n");
}

TEST(Cases, KeepASentenceWithAbbreviationsWhole) {
  EXPECT_EQ(translate_to_json("Dr. Smith met Ms. Lee, e.g. on Jan. 13.")["sentences"].size(), 1u);
}

TEST(Cases, ReturnSpacesAndCriesAsTheyAreAndNothingForARealSentence) {
  EXPECT_EQ(translate("   \n!!!\n\n"), "   \n!!!\n\n");
  const std::string output = translate("I am here.\n\nI am here.\n");
  const std::size_t end = output.find('\n');
  EXPECT_GT(end, 0u);
  EXPECT_EQ(output, output.substr(0, end) + "\n\n" + output.substr(0, end) + "\n");
}

TEST(Cases, TranslateAGreetingShortly) {
  const Json line = translate_to_json("Hello");
  EXPECT_EQ(line["truncated"], false);
  EXPECT_EQ(line["repeats"], false);
  EXPECT_GE(line["tokens"].size(), 2u);
  EXPECT_LE(line["tokens"].size(), 8u);
}

}  // namespace
}  // namespace sampan::cli
