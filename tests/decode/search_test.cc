#include "decode/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decode/scoring.h"
#include "small_search.h"

namespace sampan::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Runs `action` with greedy search, beam search and sampling.
template <typename Action>
void with_each_strategy(Action&& action) {
  action(small_config(1));
  action(small_config(4));
  GenerationConfig sampling = small_config(1);
  sampling.do_sample = true;
  action(sampling);
}

TEST(Search, OfAnEmptyBatchAsksTheModelNothing) {
  FakeModel model(10, hashed_logits(10));
  model.fail_at_step = 0;
  with_each_strategy(
      [&](const GenerationConfig& config) { EXPECT_TRUE(search(model, {}, config).empty()); });
}

TEST(Search, ContinuesForcedPrefixesOfAnyLength) {
  FakeModel model(20, hashed_logits(20));
  std::vector<SearchInput> inputs = small_inputs(6);
  inputs[1].prefix = {7};
  inputs[2].prefix = {3, 4, 5, 6};
  inputs[4].prefix = {2, 2};
  with_each_strategy([&](const GenerationConfig& config) {
    const auto together = search(model, inputs, config);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto alone = search(model, std::span(&inputs[i], 1), config);
      EXPECT_EQ(together[i][0].tokens, alone[0][0].tokens) << i;
      EXPECT_EQ(together[i][0].log_probs, alone[0][0].log_probs) << i;
    }
  });
}

TEST(Search, APrefixOfItsOwnResultLeadsToTheSameResult) {
  FakeModel model(20, hashed_logits(20));
  const std::vector<SearchInput> inputs = small_inputs(10);
  GenerationConfig config = small_config();
  config.no_repeat_ngram_size = 2;
  const auto free = best_tokens(search(model, inputs, config));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (free[i].size() < 3) continue;
    SearchInput guided = inputs[i];
    guided.prefix = {free[i][0], free[i][1]};
    const auto rest = search(model, std::span(&guided, 1), config)[0][0].tokens;
    EXPECT_EQ(rest, std::vector<std::int64_t>(free[i].begin() + 2, free[i].end())) << i;
  }
}

TEST(Search, RefusesInputsThatDoNotFitTheModel) {
  FakeModel model(10, hashed_logits(10));
  model.positions = 12;
  const auto refuses = [&](const SearchInput& input, const std::string& reason) {
    std::string message;
    const ErrorCode code =
        error_code_of([&] { search(model, std::span(&input, 1), small_config()); }, &message);
    return code == ErrorCode::kInvalidArgument && message.find(reason) != std::string::npos;
  };
  EXPECT_TRUE(refuses({{}, {}, {}}, "0 source tokens"));
  EXPECT_TRUE(refuses({std::vector<std::int64_t>(13, 2), {}, {}}, "13 source tokens"));
  EXPECT_TRUE(refuses({{2}, {10}, {}}, "token 10"));
  EXPECT_TRUE(refuses({{2}, {-1}, {}}, "token -1"));
  EXPECT_TRUE(refuses({{2}, {3, 4}, 3}, "leave no room"));
  EXPECT_TRUE(refuses({{2}, {}, 1}, "leave no room"));
  EXPECT_TRUE(refuses({{2}, std::vector<std::int64_t>(11, 2), {}}, "leave no room"));
}

TEST(Search, RefusesContradictionsBeforeAnythingRuns) {
  FakeModel model(10, hashed_logits(10));
  model.fail_at_step = 0;
  GenerationConfig config = small_config(2);
  config.num_return_sequences = 3;
  config.do_sample = true;
  const std::vector<SearchInput> inputs = small_inputs(1);
  std::string message;
  EXPECT_EQ(error_code_of([&] { search(model, inputs, config); }, &message),
            ErrorCode::kInvalidArgument);
  EXPECT_THAT(message, HasSubstr("choose sampling or beam search"));
}

TEST(Search, StopsWhenCancelled) {
  FakeModel model(10, hashed_logits(10));
  with_each_strategy([&](const GenerationConfig& config) {
    std::stop_source source;
    source.request_stop();
    SearchControl control;
    control.stop = source.get_token();
    EXPECT_EQ(error_code_of([&] { search(model, small_inputs(2), config, control); }),
              ErrorCode::kCancelled);
    EXPECT_TRUE(model.rows_of_step.empty());
  });
}

TEST(Search, StopsBetweenStepsWhenCancelledMidway) {
  FakeModel model(10, [](const auto&, const auto&) {
    return std::vector<float>{0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
  });
  std::stop_source source;
  SearchControl control;
  control.stop = source.get_token();
  int heard = 0;
  control.on_token = [&](std::size_t, std::int64_t) {
    if (++heard == 3) source.request_stop();
  };
  EXPECT_EQ(error_code_of([&] { search(model, small_inputs(1), small_config(), control); }),
            ErrorCode::kCancelled);
  EXPECT_EQ(heard, 3);
}

TEST(Search, StopsAtItsDeadlineWhenTheModelStalls) {
  FakeModel model(10, [](const auto&, const auto&) {
    return std::vector<float>{0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
  });
  model.stall = std::chrono::milliseconds(20);
  with_each_strategy([&](const GenerationConfig& config) {
    SearchControl control;
    control.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    EXPECT_EQ(error_code_of([&] { search(model, small_inputs(1), config, control); }),
              ErrorCode::kDeadlineExceeded);
    EXPECT_LE(model.rows_of_step.size(), 3U);
  });
}

TEST(Search, PassesOnTheModelsOwnErrorAndCanRunAgain) {
  FakeModel model(10, hashed_logits(10));
  with_each_strategy([&](const GenerationConfig& config) {
    model.fail_at_step = 1;
    EXPECT_EQ(error_code_of([&] { search(model, small_inputs(8), config); }),
              ErrorCode::kResourceExhausted);
    model.fail_at_step = -1;
    EXPECT_EQ(search(model, small_inputs(8), config).size(), 8U);
  });
}

TEST(Search, NoticesAModelThatDoesNotKeepItsContract) {
  with_each_strategy([&](const GenerationConfig& config) {
    FakeModel short_logits(10, hashed_logits(10));
    short_logits.lie_about_logits = true;
    EXPECT_EQ(error_code_of([&] { search(short_logits, small_inputs(2), config); }),
              ErrorCode::kInternal);
    FakeModel wrong_rows(10, hashed_logits(10));
    wrong_rows.lie_about_rows = true;
    EXPECT_EQ(error_code_of([&] { search(wrong_rows, small_inputs(2), config); }),
              ErrorCode::kInternal);
  });
}

TEST(Search, RefusesNanFromTheModel) {
  FakeModel model(10, [](const auto&, const auto& target) {
    std::vector<float> row(10, 0.5F);
    if (target.size() == 3) row[6] = std::numeric_limits<float>::quiet_NaN();
    row[2] = 1.0F;
    return row;
  });
  with_each_strategy([&](const GenerationConfig& config) {
    std::string message;
    EXPECT_EQ(error_code_of([&] { search(model, small_inputs(1), config); }, &message),
              ErrorCode::kInvalidData);
    EXPECT_THAT(message, HasSubstr("NaN"));
  });
}

TEST(Search, RefusesAModelWithoutAnyToken) {
  FakeModel model(10, [](const auto&, const auto&) {
    return std::vector<float>(10, -std::numeric_limits<float>::infinity());
  });
  with_each_strategy([&](const GenerationConfig& config) {
    EXPECT_EQ(error_code_of([&] { search(model, small_inputs(1), config); }),
              ErrorCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace sampan::decode
