#include "decode/scoring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "small_search.h"

namespace sampan::decode {
namespace {

TEST(ScoreTargets, GivesGreedyTargetsTheLogProbabilitiesOfTheirSearch) {
  FakeModel model(20, hashed_logits(20));
  std::vector<SearchInput> inputs = small_inputs(12);
  inputs[3].prefix = {4, 5, 6};
  GenerationConfig config = small_config();
  config.max_length = 200;  // long enough that no end of sentence is forced
  const auto found = search(model, inputs, config);
  const auto scores = score_targets(model, inputs, best_tokens(found), config);
  ASSERT_EQ(scores.size(), inputs.size());
  EXPECT_EQ(model.rows_of_step.size(), 1U);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_THAT(scores[i], testing::Pointwise(testing::FloatNear(1e-5F), found[i][0].log_probs));
  }
}

TEST(ScoreTargets, FeedsLargeBatchesInParts) {
  // 40 rows of a vocabulary of 65,001: six positions at a time.
  const LogitsFunction logits = [](const auto&, const auto& target) {
    std::vector<float> row(65001, -20.0F);
    row[static_cast<std::size_t>(target.size()) + 1] = 0.0F;
    return row;
  };
  FakeModel model(65001, logits);
  const std::vector<SearchInput> inputs = small_inputs(40);
  std::vector<std::vector<std::int64_t>> targets(40, {2, 3, 4, 5, 6, 7, 8, 9});
  targets[7] = {2, 99};
  const auto scores = score_targets(model, inputs, targets, small_config());
  EXPECT_EQ(model.rows_of_step.size(), 2U);
  EXPECT_EQ(scores[0].size(), 8U);
  for (const float score : scores[39]) EXPECT_NEAR(score, 0.0F, 1e-3F);
  EXPECT_NEAR(scores[7].at(1), -20.0F, 1e-2F);
}

TEST(ScoreTargets, GivesForbiddenTokensNothing) {
  FakeModel model(20, hashed_logits(20));
  const std::vector<std::vector<std::int64_t>> targets = {{3, 1, 0}};
  const auto scores = score_targets(model, small_inputs(1), targets, small_config());
  EXPECT_TRUE(std::isinf(scores[0][1]));
  EXPECT_TRUE(std::isfinite(scores[0][2]));
}

TEST(ScoreTargets, RefusesTargetsThatDoNotFit) {
  FakeModel model(20, hashed_logits(20));
  model.positions = 8;
  const std::vector<SearchInput> inputs = small_inputs(1);
  const auto code = [&](std::vector<std::vector<std::int64_t>> targets) {
    return error_code_of([&] { score_targets(model, inputs, targets, small_config()); });
  };
  EXPECT_EQ(code({{3, 20, 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{3, -1, 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{2, 3, 4, 5, 6, 7, 8, 9, 0}}), ErrorCode::kInvalidArgument);
  const std::vector<std::vector<std::int64_t>> fits = {{2, 3, 4, 5, 6, 7, 8, 0}};
  EXPECT_EQ(score_targets(model, inputs, fits, small_config())[0].size(), 8U);
}

TEST(ScoreTargets, OfNothingIsNothing) {
  FakeModel model(20, hashed_logits(20));
  EXPECT_TRUE(score_targets(model, {}, {}, small_config()).empty());
}

}  // namespace
}  // namespace sampan::decode
