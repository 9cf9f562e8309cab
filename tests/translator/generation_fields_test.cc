#include "translator/generation_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sampan/error.h"

namespace sampan::translator {
namespace {

const GenerationField& field(std::string_view name) {
  const auto fields = generation_fields();
  const auto found = std::ranges::find(fields, name, &GenerationField::name);
  EXPECT_NE(found, fields.end()) << name;
  return *found;
}

std::string set_and_read(std::string_view name, std::string_view value) {
  GenerationConfig config;
  set_generation_field(config, field(name), value);
  return generation_field_value(config, field(name));
}

std::string refusal(std::string_view name, std::string_view value) {
  try {
    return "accepted as " + set_and_read(name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
}

TEST(GenerationFields, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const GenerationField& entry : generation_fields()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.description.empty()) << entry.name;
  }
}

TEST(GenerationFields, ReadBackTheirOwnDefaults) {
  const GenerationConfig config;
  for (const GenerationField& entry : generation_fields()) {
    const std::string value = generation_field_value(config, entry);
    EXPECT_EQ(set_and_read(entry.name, value), value) << entry.name;
  }
}

TEST(GenerationFields, UnderstandJsonAndWhatAPersonTypes) {
  EXPECT_EQ(set_and_read("num_beams", "4"), "4");
  EXPECT_EQ(set_and_read("length_penalty", "-0.5"), "-0.5");
  EXPECT_EQ(set_and_read("length_penalty", "2"), "2.0");
  EXPECT_EQ(set_and_read("early_stopping", "never"), "\"never\"");
  EXPECT_EQ(set_and_read("early_stopping", "\"never\""), "\"never\"");
  EXPECT_EQ(set_and_read("early_stopping", "true"), "true");
  EXPECT_EQ(set_and_read("seed", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(set_and_read("max_new_tokens", "7"), "7");
  EXPECT_EQ(set_and_read("max_new_tokens", "null"), "null");
  EXPECT_EQ(set_and_read("suppress_tokens", "[7,8]"), "[7,8]");
  EXPECT_EQ(set_and_read("suppress_tokens", "7,8"), "[7,8]");
  EXPECT_EQ(set_and_read("suppress_tokens", "7"), "[7]");
  EXPECT_EQ(set_and_read("forced_eos_token_id", "0"), "[0]");
  EXPECT_EQ(set_and_read("bad_words_ids", "[[7],[8,9]]"), "[[7],[8,9]]");
  EXPECT_EQ(set_and_read("bad_words_ids", "[7],[8,9]"), "[[7],[8,9]]");
  EXPECT_EQ(set_and_read("bad_words_ids", "8,9"), "[[8,9]]");
}

TEST(GenerationFields, NameTheFieldAndTheBadValue) {
  EXPECT_EQ(refusal("num_beams", "many"), "num_beams: 'many' is not an integer");
  EXPECT_EQ(refusal("num_beams", ""), "num_beams: '' is not an integer");
  EXPECT_EQ(refusal("num_beams", "4.5"), "num_beams: '4.5' is not an integer");
  EXPECT_EQ(refusal("num_beams", "9223372036854775808"),
            "num_beams: '9223372036854775808' is not an integer");
  EXPECT_EQ(refusal("num_beams", "1,2"), "num_beams: '1,2' is not an integer");
  EXPECT_EQ(refusal("max_new_tokens", "x"), "max_new_tokens: 'x' is not an integer");
  EXPECT_EQ(refusal("seed", "-1"), "seed: '-1' is not an integer of 0 or more");
  EXPECT_EQ(refusal("top_p", "nan"), "top_p: 'nan' is not a number");
  EXPECT_EQ(refusal("do_sample", "1"), "do_sample: '1' is not true or false");
  EXPECT_EQ(refusal("early_stopping", "Never"),
            "early_stopping: 'Never' is not true, false or never");
  EXPECT_EQ(refusal("suppress_tokens", "7,x"), "suppress_tokens: '7,x' is not a list of token ids");
  EXPECT_EQ(refusal("bad_words_ids", "[[7],8]"),
            "bad_words_ids: '[[7],8]' is not a list of lists of token ids");
  EXPECT_EQ(refusal("bad_words_ids", "7"),
            "bad_words_ids: '7' is not a list of lists of token ids");
}

}  // namespace
}  // namespace sampan::translator
