#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decode/random.h"
#include "small_search.h"

namespace sampan::decode {
namespace {

GenerationConfig sampling_config() {
  GenerationConfig config = small_config();
  config.do_sample = true;
  config.seed = 42;
  return config;
}

TEST(Random, GivesTheSameNumbersEverywhere) {
  const std::vector<std::int64_t> source = {5, 6, 0};
  const std::vector<std::int64_t> prompt = {1};
  Random random(7, source, prompt, 0);
  std::vector<double> numbers;
  for (int i = 0; i < 3; ++i) numbers.push_back(random.next());
  Random again(7, source, prompt, 0);
  for (const double number : numbers) {
    EXPECT_EQ(again.next(), number);
    EXPECT_GE(number, 0.0);
    EXPECT_LT(number, 1.0);
  }
  EXPECT_NE(Random(8, source, prompt, 0).next(), numbers[0]);
  EXPECT_NE(Random(7, source, prompt, 1).next(), numbers[0]);
  EXPECT_NE(Random(7, prompt, source, 0).next(), numbers[0]);
}

TEST(Sampling, TheSameSeedDrawsTheSameTargetsInAnyBatch) {
  FakeModel model(40, hashed_logits(40));
  const std::vector<SearchInput> inputs = small_inputs(20);
  const auto together = best_tokens(search(model, inputs, sampling_config()));
  EXPECT_EQ(best_tokens(search(model, inputs, sampling_config())), together);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(search(model, std::span(&inputs[i], 1), sampling_config())[0][0].tokens, together[i]);
  }
  GenerationConfig other = sampling_config();
  other.seed = 43;
  EXPECT_NE(best_tokens(search(model, inputs, other)), together);
}

TEST(Sampling, DrawsTheDocumentedTokensFromASeed) {
  // Pinned: a change of these tokens breaks callers who rely on a seed.
  FakeModel model(40, hashed_logits(40));
  GenerationConfig config = sampling_config();
  config.max_length = 8;
  const auto results = search(model, small_inputs(1), config);
  EXPECT_THAT(results[0][0].tokens, testing::ElementsAre(23, 6, 17, 18, 5, 21, 0));
}

TEST(Sampling, DrawsTokensAsOftenAsTheyAreLikely) {
  const std::vector<float> logits = {-40.0F, -40.0F, std::log(0.5F), std::log(0.3F),
                                     std::log(0.2F)};
  FakeModel model(5, [&](const auto&, const auto&) { return logits; });
  GenerationConfig config = sampling_config();
  config.num_return_sequences = 1000;
  config.max_new_tokens = 2;
  std::vector<double> drawn(5, 0.0);
  const auto results = search(model, small_inputs(1), config);
  ASSERT_EQ(results[0].size(), 1000U);
  for (const Hypothesis& target : results[0]) {
    const auto token = static_cast<std::size_t>(target.tokens[0]);
    drawn[token] += 0.001;
    EXPECT_NEAR(target.log_probs[0], static_cast<double>(logits[token]), 1e-4);
  }
  EXPECT_NEAR(drawn[2], 0.5, 0.05);
  EXPECT_NEAR(drawn[3], 0.3, 0.05);
  EXPECT_NEAR(drawn[4], 0.2, 0.05);
}

TEST(Sampling, AmongOneTokenEqualsGreedy) {
  FakeModel model(40, hashed_logits(40));
  const std::vector<SearchInput> inputs = small_inputs(15);
  GenerationConfig config = sampling_config();
  config.top_k = 1;
  const auto greedy = best_tokens(search(model, inputs, small_config()));
  EXPECT_EQ(best_tokens(search(model, inputs, config)), greedy);
  config.top_k = 0;
  config.top_p = 1e-6;
  EXPECT_EQ(best_tokens(search(model, inputs, config)), greedy);
  config.top_p = 1.0;
  config.temperature = 1e-5;
  EXPECT_EQ(best_tokens(search(model, inputs, config)), greedy);
}

TEST(Sampling, KeepsEveryTokenThatIsAsLikelyAsTheLastOfTopK) {
  FakeModel model(6,
                  [](const auto&, const auto&) { return std::vector<float>{-9, -9, 3, 2, 2, -9}; });
  GenerationConfig config = sampling_config();
  config.top_k = 2;
  config.max_new_tokens = 2;
  config.num_return_sequences = 300;
  std::set<std::int64_t> drawn;
  const auto results = search(model, small_inputs(1), config);
  for (const Hypothesis& target : results[0]) {
    drawn.insert(target.tokens[0]);
  }
  EXPECT_THAT(drawn, testing::ElementsAre(2, 3, 4));
}

TEST(Sampling, TopPLooksAsFarIntoTheVocabularyAsItMust) {
  // 2,000 tokens of the same likelihood: the first 1,500 of them reach 0.75.
  std::vector<float> logits(2002, 0.0F);
  logits[0] = logits[1] = -50.0F;
  FakeModel model(2002, [&](const auto&, const auto&) { return logits; });
  GenerationConfig config = sampling_config();
  config.top_k = 0;
  config.top_p = 0.75;
  config.max_new_tokens = 2;
  config.num_return_sequences = 1000;
  std::int64_t highest = 0;
  const auto results = search(model, small_inputs(1), config);
  for (const Hypothesis& target : results[0]) {
    highest = std::max(highest, target.tokens[0]);
    EXPECT_NEAR(target.log_probs[0], -std::log(1500.0), 1e-3);
  }
  EXPECT_GT(highest, 1400);
  EXPECT_LT(highest, 1503);
}

TEST(Sampling, SeveralTargetsOfOneSentenceDifferAndEndAlone) {
  FakeModel model(40, hashed_logits(40));
  GenerationConfig config = sampling_config();
  config.num_return_sequences = 8;
  const std::vector<SearchInput> inputs = small_inputs(3);
  SearchControl control;
  std::vector<std::vector<std::int64_t>> heard(inputs.size());
  control.on_token = [&](std::size_t sentence, std::int64_t token) {
    heard.at(sentence).push_back(token);
  };
  const auto results = search(model, inputs, config, control);
  EXPECT_EQ(model.rows_of_step[0], 3);
  EXPECT_LE(model.rows_of_step[1], 24);
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::set<std::vector<std::int64_t>> distinct;
    for (const Hypothesis& target : results[i]) {
      distinct.insert(target.tokens);
      EXPECT_EQ(target.tokens.back(), 0);
      EXPECT_EQ(target.tokens.size(), target.log_probs.size());
      EXPECT_GE(target.smallest_margin, 0.0);
    }
    EXPECT_GT(distinct.size(), 5U);
    EXPECT_EQ(results[i][0].tokens, heard[i]);
  }
}

}  // namespace
}  // namespace sampan::decode
