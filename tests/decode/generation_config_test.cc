#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "small_search.h"

namespace sampan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The problems of a good configuration after `change`.
template <typename Change>
std::vector<std::string> problems_of(Change&& change) {
  GenerationConfig config = decode::small_config(4);
  change(config);
  return config.validate();
}

TEST(GenerationConfig, TheDefaultsAndTheTestsOwnAreValid) {
  EXPECT_THAT(GenerationConfig{}.validate(), IsEmpty());
  EXPECT_THAT(problems_of([](GenerationConfig&) {}), IsEmpty());
}

TEST(GenerationConfig, NamesEachValueOutOfRange) {
  using Config = GenerationConfig;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto only = [](const char* text) { return ElementsAre(HasSubstr(text)); };
  EXPECT_THAT(problems_of([](Config& c) { c.num_beams = 1001; }), only("num_beams is 1001"));
  EXPECT_THAT(problems_of([](Config& c) { c.num_return_sequences = 0; }),
              only("num_return_sequences is 0"));
  EXPECT_THAT(problems_of([](Config& c) { c.length_penalty = 11.0; }),
              only("length_penalty is 11"));
  EXPECT_THAT(problems_of([&](Config& c) { c.length_penalty = nan; }), only("length_penalty"));
  EXPECT_THAT(problems_of([](Config& c) { c.max_length = 1; }), only("max_length is 1"));
  EXPECT_THAT(problems_of([](Config& c) { c.max_new_tokens = 0; }), only("max_new_tokens is 0"));
  EXPECT_THAT(problems_of([](Config& c) { c.min_length = -1; }), only("min_length is -1"));
  EXPECT_THAT(problems_of([](Config& c) { c.min_new_tokens = -2; }), only("min_new_tokens is -2"));
  EXPECT_THAT(problems_of([](Config& c) { c.temperature = 0.0; }), only("temperature is 0"));
  EXPECT_THAT(problems_of([&](Config& c) { c.temperature = nan; }), only("temperature"));
  EXPECT_THAT(problems_of([](Config& c) { c.top_k = -1; }), only("top_k is -1"));
  EXPECT_THAT(problems_of([](Config& c) { c.top_p = 0.0; }), only("top_p is 0"));
  EXPECT_THAT(problems_of([](Config& c) { c.top_p = 1.5; }), only("top_p is 1.5"));
  EXPECT_THAT(problems_of([](Config& c) { c.no_repeat_ngram_size = -3; }),
              only("no_repeat_ngram_size is -3"));
  EXPECT_THAT(problems_of([](Config& c) { c.repetition_penalty = 0.0; }),
              only("repetition_penalty is 0"));
  EXPECT_THAT(problems_of([](Config& c) { c.bad_words_ids = {{}}; }), only("empty sequence"));
  EXPECT_THAT(problems_of([](Config& c) { c.bad_words_ids = {{3, -1}}; }), only("bad_words_ids"));
  EXPECT_THAT(problems_of([](Config& c) { c.suppress_tokens = {-5}; }), only("suppress_tokens"));
  EXPECT_THAT(problems_of([](Config& c) { c.forced_bos_token_id = -1; }), only("forced_bos"));
  EXPECT_THAT(problems_of([](Config& c) { c.forced_eos_token_id = {-1}; }), only("forced_eos"));
  EXPECT_THAT(problems_of([](Config& c) { c.eos_token_id = {-1}; }), only("eos_token_id"));
  EXPECT_THAT(problems_of([](Config& c) { c.decoder_start_token_id = -1; }), only("decoder_start"));
  EXPECT_THAT(problems_of([](Config& c) { c.pad_token_id = -1; }), only("pad_token_id"));
}

TEST(GenerationConfig, NamesContradictions) {
  using Config = GenerationConfig;
  EXPECT_THAT(problems_of([](Config& c) { c.num_return_sequences = 5; }),
              ElementsAre("num_return_sequences is 5, more than num_beams 4"));
  EXPECT_THAT(problems_of([](Config& c) { c.do_sample = true; }),
              ElementsAre(HasSubstr("do_sample cannot go with num_beams 4")));
  EXPECT_THAT(problems_of([](Config& c) { c.min_length = 30; }),
              ElementsAre("min_length is 30, more than max_length 24"));
  EXPECT_THAT(problems_of([](Config& c) { c.min_new_tokens = 24; }),
              ElementsAre("min_new_tokens is 24, but at most 23 tokens fit"));
  EXPECT_THAT(problems_of([](Config& c) {
                c.min_new_tokens = 9;
                c.max_new_tokens = 8;
              }),
              ElementsAre("min_new_tokens is 9, but at most 8 tokens fit"));
  EXPECT_THAT(problems_of([](Config& c) {
                c.forced_bos_token_id = 7;
                c.suppress_tokens = {6, 7};
              }),
              ElementsAre(HasSubstr("forced_bos_token_id 7")));
  EXPECT_THAT(problems_of([](Config& c) { c.suppress_tokens = {0}; }),
              ElementsAre(HasSubstr("forced_eos_token_id 0")));
}

TEST(GenerationConfig, ReportsEveryProblemAtOnce) {
  EXPECT_THAT(problems_of([](GenerationConfig& c) {
                c.num_beams = 0;
                c.top_p = -1.0;
                c.temperature = -1.0;
              }),
              SizeIs(4));  // also more sequences than beams
}

TEST(GenerationConfig, AllowsManySampledSequences) {
  EXPECT_THAT(problems_of([](GenerationConfig& c) {
                c.num_beams = 1;
                c.do_sample = true;
                c.num_return_sequences = 20;
              }),
              IsEmpty());
}

}  // namespace
}  // namespace sampan
