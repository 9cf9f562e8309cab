#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sampan::base {
namespace {

using namespace std::string_literals;

struct Case {
  std::string bytes;
  std::string repaired;  // what Python's bytes.decode("utf-8", "replace") gives
  std::size_t replaced;
};

TEST(Utf8, ReplacesEachMaximalSubpartOfABrokenSequenceOnce) {
  const std::vector<Case> cases = {
      {"", "", 0},
      {"plain \0 text"s, "plain \0 text"s, 0},
      {"\u00e9 \u4f60\u597d \U0001F600", "\u00e9 \u4f60\u597d \U0001F600", 0},
      {"\xFF", "\uFFFD", 1},
      {"a\x80z", "a\uFFFDz", 1},
      {"\xC0\xAF", "\uFFFD\uFFFD", 2},                      // overlong
      {"\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD", 3},            // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", 3},            // a surrogate
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 4},  // beyond U+10FFFF
      {"\xE4\xBD", "\uFFFD", 1},                            // cut short at the end
      {"\xE4\xBD!", "\uFFFD!", 1},                          // cut short by another character
      {"\xF0\x9F\x98 \xF0\x9F", "\uFFFD \uFFFD", 2},
      {"\xF0\x9F\x98\xE4\xBD\xA0", "\uFFFD\u4f60", 1},
  };
  for (const Case& example : cases) {
    std::string text = example.bytes;
    EXPECT_EQ(replace_invalid_utf8(text), example.replaced) << example.repaired;
    EXPECT_EQ(text, example.repaired);
    EXPECT_EQ(valid_utf8_length(text), text.size());
  }
}

TEST(Utf8, MeasuresTheFirstSequence) {
  EXPECT_EQ(utf8_sequence_length(""), 0u);
  EXPECT_EQ(utf8_sequence_length("ab"), 1u);
  EXPECT_EQ(utf8_sequence_length("\u4f60\u597d"), 3u);
  EXPECT_EQ(utf8_sequence_length("\U0001F600"), 4u);
  EXPECT_EQ(utf8_sequence_length("\xE4\xBD"), 0u);
  EXPECT_EQ(utf8_sequence_length("\xBD"), 0u);
}

}  // namespace
}  // namespace sampan::base
