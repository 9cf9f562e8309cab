#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "decode/search_driver.h"
#include "plain_beam_search.h"
#include "small_search.h"

namespace sampan::decode {
namespace {

/// Beam search whatever `num_beams` says; the public search takes the greedy path for one beam.
std::vector<std::vector<Hypothesis>> beam_search(FakeModel& model,
                                                 const std::vector<SearchInput>& inputs,
                                                 const GenerationConfig& config) {
  const SearchControl control;
  SearchTools tools{config, control, LogitsProcessors(config, model.vocab_size()), {}};
  const std::vector<Prompt> prompts = prompts_of(model, inputs, config);
  std::vector<std::unique_ptr<SentenceSearch>> searches;
  SourceBatch sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(inputs[i].source);
    searches.push_back(make_beam_search(tools, prompts[i]));
  }
  SearchDriver(model, control).run(sources, prompts, searches);
  std::vector<std::vector<Hypothesis>> results;
  for (const auto& finished : searches) results.push_back(finished->hypotheses());
  return results;
}

/// A configuration drawn from all that the plain restatement knows.
GenerationConfig random_config(std::mt19937& generator) {
  const auto any_of = [&](auto... values) {
    const std::array list{values...};
    return list[generator() % list.size()];
  };
  GenerationConfig config = small_config(any_of(1, 2, 3, 4, 6));
  config.num_return_sequences = 1 + static_cast<std::int64_t>(generator()) % config.num_beams;
  config.length_penalty = any_of(1.0, 0.0, 0.6, 2.0, -1.0);
  config.early_stopping =
      any_of(EarlyStopping::kFalse, EarlyStopping::kTrue, EarlyStopping::kNever);
  config.max_length = any_of(2, 3, 8, 20);
  config.renormalize_logits = any_of(true, false);
  if (generator() % 2 == 0) config.bad_words_ids.clear();
  if (generator() % 3 == 0) config.forced_eos_token_id.clear();
  if (generator() % 4 == 0) config.eos_token_id = {0, 3};
  if (generator() % 9 == 0) config.eos_token_id.clear();
  return config;
}

TEST(BeamSearch, EqualsAPlainRestatementOfTheVectorisedSearch) {
  std::mt19937 generator(11);
  int compared = 0;
  for (int round = 0; round < 700; ++round) {
    const GenerationConfig config = random_config(generator);
    // Enough tokens that each step has all its candidates, as a real vocabulary has.
    const std::size_t vocab_size = 20 + generator() % 20;
    const float spread = static_cast<float>(1U << (generator() % 5U));
    const LogitsFunction logits = hashed_logits(vocab_size, spread);
    FakeModel model(static_cast<std::int64_t>(vocab_size), logits);
    SearchInput input = small_inputs(1, round)[0];
    if (config.max_length > 4 && generator() % 3 == 0) input.prefix = {2, 5};
    const auto found = beam_search(model, {input}, config)[0];
    const auto plain =
        PlainBeamSearch(logits, config).run(input.source, input.prefix, config.max_length);
    // Arithmetic in another order may decide a tie the other way.
    if (found[0].smallest_margin < 1e-5) continue;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (!plain[i].finished || plain[i].score < -1e7F) break;  // slots that were never filled
      ASSERT_LT(i, found.size()) << "round " << round;
      EXPECT_EQ(found[i].tokens, plain[i].tokens) << "round " << round << ", hypothesis " << i;
      EXPECT_NEAR(found[i].score, static_cast<double>(plain[i].score),
                  1e-4 + 1e-6 * std::abs(static_cast<double>(plain[i].score)))
          << "round " << round;
      ++compared;
    }
  }
  EXPECT_GT(compared, 900);
}

TEST(BeamSearch, EqualsThePlainRestatementOverTinyVocabularies) {
  // With fewer tokens than candidates the copies of the first beam come into play.
  std::mt19937 generator(12);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const GenerationConfig config = random_config(generator);
    const std::size_t vocab_size = 4 + generator() % 4;
    const LogitsFunction logits = hashed_logits(vocab_size, 8.0F);
    FakeModel model(static_cast<std::int64_t>(vocab_size), logits);
    const SearchInput input = small_inputs(1, round)[0];
    const auto found = beam_search(model, {input}, config)[0];
    const auto plain = PlainBeamSearch(logits, config).run(input.source, {}, config.max_length);
    if (found[0].smallest_margin < 1e-5) continue;
    EXPECT_EQ(found[0].tokens, plain[0].tokens) << "round " << round;
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

TEST(BeamSearch, OfOneBeamThatStopsEarlyEqualsGreedy) {
  FakeModel model(15, hashed_logits(15));
  const std::vector<SearchInput> inputs = small_inputs(60);
  GenerationConfig config = small_config(1);
  config.early_stopping = EarlyStopping::kTrue;
  const auto beams = beam_search(model, inputs, config);
  const auto greedy = search(model, inputs, config);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(beams[i][0].tokens, greedy[i][0].tokens) << i;
    EXPECT_NEAR(beams[i][0].score, greedy[i][0].score, 1e-5) << i;
  }
}

TEST(BeamSearch, ABatchEqualsOneByOneAndFinishedSentencesLeaveIt) {
  FakeModel model(30, hashed_logits(30, 6.0F));
  std::vector<SearchInput> inputs = small_inputs(25);
  for (std::size_t i = 0; i < inputs.size(); i += 3) inputs[i].prefix = {2, 4, 6};
  for (std::size_t i = 0; i < inputs.size(); i += 4) inputs[i].max_length = 9;
  GenerationConfig config = small_config(4);
  config.num_return_sequences = 4;
  config.no_repeat_ngram_size = 2;
  const auto together = search(model, inputs, config);
  EXPECT_EQ(model.rows_of_step.front(), 25);
  EXPECT_LT(model.rows_of_step.back(), std::ranges::max(model.rows_of_step));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto alone = search(model, std::span(&inputs[i], 1), config);
    ASSERT_EQ(together[i].size(), alone[0].size()) << i;
    for (std::size_t j = 0; j < together[i].size(); ++j) {
      EXPECT_EQ(together[i][j].tokens, alone[0][j].tokens) << i << ' ' << j;
      EXPECT_EQ(together[i][j].log_probs, alone[0][j].log_probs) << i << ' ' << j;
      EXPECT_EQ(together[i][j].smallest_margin, alone[0][j].smallest_margin) << i << ' ' << j;
    }
  }
}

TEST(BeamSearch, RunsOneRowASentenceBehindThePromptAndThenItsBeams) {
  FakeModel model(30, hashed_logits(30));
  const std::vector<SearchInput> inputs = small_inputs(3);
  search(model, inputs, small_config(5));
  ASSERT_GT(model.rows_of_step.size(), 2U);
  EXPECT_EQ(model.rows_of_step[0], 3);
  EXPECT_EQ(model.rows_of_step[1], 15);
}

TEST(BeamSearch, LeavesRowsInPlaceWhereBeamsOnlyChangeRanks) {
  // Two beams whose ranks swap at every step, each continuing itself.
  const LogitsFunction logits = [](const auto&, const auto& target) {
    std::vector<float> row(8, -30.0F);
    if (target.size() == 1) {
      row[2] = 1.0F;
      row[3] = 0.9F;
    } else {
      const bool first = target[1] == 2;
      row[4] = first == (target.size() % 2 == 0) ? -0.3F : 0.0F;
      row[5] = -1.0F;
    }
    return row;
  };
  FakeModel model(8, logits);
  GenerationConfig config = small_config(2);
  config.max_length = 8;
  config.renormalize_logits = false;
  const SearchInput input = {{5, 0}, {}, {}};
  const auto results = search(model, std::span(&input, 1), config);
  EXPECT_EQ(results[0][0].tokens.size(), 7U);
  EXPECT_EQ(model.rows_moved, 1);  // the second beam's copy of the first row, once
}

TEST(BeamSearch, ReturnsDistinctHypothesesBestFirst) {
  FakeModel model(30, hashed_logits(30));
  GenerationConfig config = small_config(6);
  config.num_return_sequences = 6;
  for (const auto& hypotheses : search(model, small_inputs(20), config)) {
    EXPECT_EQ(hypotheses.size(), 6U);
    for (std::size_t i = 0; i + 1 < hypotheses.size(); ++i) {
      EXPECT_GE(hypotheses[i].score, hypotheses[i + 1].score);
      for (std::size_t j = i + 1; j < hypotheses.size(); ++j) {
        EXPECT_NE(hypotheses[i].tokens, hypotheses[j].tokens);
      }
    }
  }
}

TEST(BeamSearch, ReturnsFewerHypothesesWhereNoMoreExist) {
  FakeModel model(4, hashed_logits(4));
  GenerationConfig config = small_config(4);
  config.num_return_sequences = 4;
  config.max_length = 2;  // the forced end of sentence is the only target
  const SearchInput input = {{5, 0}, {}, {}};
  const auto results = search(model, std::span(&input, 1), config);
  ASSERT_EQ(results[0].size(), 1U);
  EXPECT_THAT(results[0][0].tokens, testing::ElementsAre(0));
}

TEST(BeamSearch, StartsEveryHypothesisWithAForcedFirstToken) {
  FakeModel model(30, hashed_logits(30));
  GenerationConfig config = small_config(4);
  config.num_return_sequences = 4;
  config.forced_bos_token_id = 7;
  for (const auto& hypotheses : search(model, small_inputs(10), config)) {
    EXPECT_EQ(hypotheses.size(), 4U);
    for (const Hypothesis& hypothesis : hypotheses) EXPECT_EQ(hypothesis.tokens[0], 7);
  }
}

TEST(BeamSearch, ReportsTheNearestRivalAsItsMargin) {
  // Third and second best first tokens are 0.25 apart, and everything else is far.
  const LogitsFunction logits = [](const auto&, const auto& target) {
    std::vector<float> row(10, -40.0F);
    if (target.size() == 1) {
      row[2] = 5.0F;
      row[3] = 2.0F;
      row[4] = 1.75F;
    } else if (target.size() == 2) {
      row[5] = 0.0F;
    } else {
      row[0] = 0.0F;
    }
    return row;
  };
  FakeModel model(10, logits);
  const SearchInput input = {{5, 0}, {}, {}};
  const auto results = search(model, std::span(&input, 1), small_config(2));
  EXPECT_THAT(results[0][0].tokens, testing::ElementsAre(2, 5, 0));
  EXPECT_NEAR(results[0][0].smallest_margin, 0.25, 1e-5);
}

TEST(BeamSearch, ScoresAreSumsOfTheirLogProbabilities) {
  FakeModel model(30, hashed_logits(30));
  GenerationConfig config = small_config(3);
  config.length_penalty = 0.6;
  for (const auto& hypotheses : search(model, small_inputs(10), config)) {
    double sum = 0.0;
    for (const float p : hypotheses[0].log_probs) sum += static_cast<double>(p);
    const auto length = static_cast<double>(hypotheses[0].tokens.size());
    EXPECT_NEAR(hypotheses[0].score, sum / std::pow(length, 0.6), 1e-9);
  }
}

TEST(BeamSearch, EndsWithWhatItHasWhenNoTokenIsLeft) {
  // Every n-gram of one token only once: the vocabulary is used up after three tokens.
  FakeModel model(5, hashed_logits(5));
  GenerationConfig config = small_config(3);
  config.no_repeat_ngram_size = 1;
  config.forced_eos_token_id.clear();
  const SearchInput input = {{5, 0}, {}, {}};
  const auto results = search(model, std::span(&input, 1), config);
  EXPECT_EQ(results[0][0].tokens.back(), 0);
  EXPECT_LE(results[0][0].tokens.size(), 4U);
}

}  // namespace
}  // namespace sampan::decode
