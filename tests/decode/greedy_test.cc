#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "small_search.h"

namespace sampan::decode {
namespace {

using testing::ElementsAre;

/// Logits of a table: row by the number of tokens of the target, start token included.
LogitsFunction table(std::vector<std::vector<float>> rows) {
  return [rows = std::move(rows)](const auto&, const auto& target) {
    return rows.at(target.size() - 1);
  };
}

SearchInput one_sentence() { return {{5, 0}, {}, {}}; }

TEST(Greedy, TakesTheHighestLogitUntilTheEndOfSentence) {
  FakeModel model(5, table({{0, 9, 1, 3, 2}, {0, 9, 4, 3, 2}, {5, 9, 1, 3, 2}}));
  const SearchInput input = one_sentence();
  const auto results = search(model, std::span(&input, 1), small_config());
  ASSERT_EQ(results[0].size(), 1U);
  EXPECT_THAT(results[0][0].tokens, ElementsAre(3, 2, 0));
  EXPECT_EQ(results[0][0].finish_reason, FinishReason::kEndOfSentence);
  EXPECT_NEAR(results[0][0].smallest_margin, 1.0, 1e-6);
  // Each log-probability is that among the tokens that are allowed, 1 (9.0) left out.
  const double first =
      3.0 - std::log(std::exp(0.0) + std::exp(1.0) + std::exp(3.0) + std::exp(2.0));
  EXPECT_NEAR(results[0][0].log_probs[0], first, 1e-5);
}

TEST(Greedy, PrefersTheLowestTokenAmongEquals) {
  FakeModel model(5, table({{0, 0, 7, 7, 7}, {1, 0, 0, 0, 0}}));
  const SearchInput input = one_sentence();
  const auto results = search(model, std::span(&input, 1), small_config());
  EXPECT_THAT(results[0][0].tokens, ElementsAre(2, 0));
  EXPECT_EQ(results[0][0].smallest_margin, 0.0);
}

TEST(Greedy, ForcesTheEndOfSentenceAtTheMaximumLength) {
  FakeModel model(4, [](const auto&, const auto&) { return std::vector<float>{0, 0, 0, 5}; });
  GenerationConfig config = small_config();
  config.max_length = 5;
  SearchInput input = one_sentence();
  auto results = search(model, std::span(&input, 1), config);
  EXPECT_THAT(results[0][0].tokens, ElementsAre(3, 3, 3, 0));
  EXPECT_EQ(results[0][0].finish_reason, FinishReason::kLength);
  EXPECT_EQ(results[0][0].log_probs.back(), 0.0F);

  config.forced_eos_token_id.clear();
  results = search(model, std::span(&input, 1), config);
  EXPECT_THAT(results[0][0].tokens, ElementsAre(3, 3, 3, 3));
  EXPECT_EQ(results[0][0].finish_reason, FinishReason::kLength);
}

TEST(Greedy, KeepsEachSentencesOwnMaximumLength) {
  FakeModel model(4, [](const auto&, const auto&) { return std::vector<float>{0, 0, 0, 5}; });
  std::vector<SearchInput> inputs(3, one_sentence());
  inputs[0].max_length = 3;
  inputs[2].max_length = 4;
  GenerationConfig config = small_config();
  config.max_length = 6;
  EXPECT_THAT(best_tokens(search(model, inputs, config)),
              ElementsAre(ElementsAre(3, 0), ElementsAre(3, 3, 3, 3, 0), ElementsAre(3, 3, 0)));
  // max_new_tokens counts from the prefix on.
  inputs[1].prefix = {2, 2};
  config.max_new_tokens = 3;
  EXPECT_THAT(best_tokens(search(model, inputs, config)),
              ElementsAre(ElementsAre(3, 0), ElementsAre(3, 3, 0), ElementsAre(3, 3, 0)));
}

TEST(Greedy, NeverGoesBeyondTheModelsPositions) {
  FakeModel model(4, [](const auto&, const auto&) { return std::vector<float>{0, 0, 0, 5}; });
  model.positions = 6;
  const SearchInput input = one_sentence();
  const auto results = search(model, std::span(&input, 1), small_config());
  EXPECT_EQ(results[0][0].tokens.size(), 5U);
  EXPECT_EQ(results[0][0].finish_reason, FinishReason::kLength);
}

TEST(Greedy, EndsAtAnyOfSeveralEndTokens) {
  FakeModel model(5, table({{0, 0, 0, 4, 0}, {0, 0, 4, 0, 0}}));
  GenerationConfig config = small_config();
  config.eos_token_id = {0, 2};
  const SearchInput input = one_sentence();
  const auto results = search(model, std::span(&input, 1), config);
  EXPECT_THAT(results[0][0].tokens, ElementsAre(3, 2));
  EXPECT_EQ(results[0][0].finish_reason, FinishReason::kEndOfSentence);
}

TEST(Greedy, WorksOverVocabulariesOfOneToThree) {
  GenerationConfig config = small_config();
  config.bad_words_ids.clear();
  config.decoder_start_token_id = 0;
  config.max_length = 4;
  const SearchInput input = {{0}, {}, {}};
  for (const std::size_t vocab_size : {1U, 2U, 3U}) {
    FakeModel model(static_cast<std::int64_t>(vocab_size), hashed_logits(vocab_size));
    const auto results = search(model, std::span(&input, 1), config);
    EXPECT_EQ(results[0][0].tokens.back(), 0) << vocab_size;
    EXPECT_LE(results[0][0].tokens.size(), 3U) << vocab_size;
  }
}

TEST(Greedy, ABatchEqualsOneByOneAndFinishedSentencesLeaveIt) {
  FakeModel model(12, hashed_logits(12));
  const std::vector<SearchInput> inputs = small_inputs(40);
  const auto together = search(model, inputs, small_config());
  EXPECT_EQ(model.rows_of_step.front(), 40);
  EXPECT_LT(model.rows_of_step.back(), 10);
  EXPECT_TRUE(std::ranges::is_sorted(model.rows_of_step, std::greater<>()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto alone = search(model, std::span(&inputs[i], 1), small_config());
    EXPECT_EQ(together[i][0].tokens, alone[0][0].tokens) << i;
    EXPECT_EQ(together[i][0].log_probs, alone[0][0].log_probs) << i;
    EXPECT_EQ(together[i][0].score, alone[0][0].score) << i;
    EXPECT_EQ(together[i][0].smallest_margin, alone[0][0].smallest_margin) << i;
  }
}

TEST(Greedy, CallsBackForEachTokenInOrder) {
  FakeModel model(12, hashed_logits(12));
  const std::vector<SearchInput> inputs = small_inputs(6);
  std::vector<std::vector<std::int64_t>> heard(inputs.size());
  SearchControl control;
  control.on_token = [&](std::size_t sentence, std::int64_t token) {
    heard.at(sentence).push_back(token);
  };
  EXPECT_EQ(best_tokens(search(model, inputs, small_config(), control)), heard);
}

TEST(Greedy, NormalisesItsScoreByLength) {
  FakeModel model(12, hashed_logits(12));
  const std::vector<SearchInput> inputs = small_inputs(3);
  GenerationConfig config = small_config();
  config.length_penalty = 2.0;
  for (const auto& hypotheses : search(model, inputs, config)) {
    double sum = 0.0;
    for (const float p : hypotheses[0].log_probs) sum += static_cast<double>(p);
    const auto length = static_cast<double>(hypotheses[0].tokens.size());
    EXPECT_NEAR(hypotheses[0].score, sum / (length * length), 1e-12);
  }
}

TEST(Greedy, SaysWhichPlaceHasNoTokenLeft) {
  FakeModel model(3, hashed_logits(3));
  GenerationConfig config = small_config();
  config.bad_words_ids = {{1}, {2}};
  config.min_length = 3;
  const SearchInput input = one_sentence();
  std::string message;
  EXPECT_EQ(error_code_of([&] { search(model, std::span(&input, 1), config); }, &message),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(message, testing::HasSubstr("position 1"));
}

}  // namespace
}  // namespace sampan::decode
