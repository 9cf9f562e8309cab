// A package written by optimum, in both of its forms, decodes as transformers does on the
// checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "session/packages.h"
#include "session/sequence_model.h"

namespace sampan::session {
namespace {

using Tokens = std::vector<std::int64_t>;

constexpr float kTolerance = 5e-5F;

std::shared_ptr<const SequenceModel> load(const std::string& form) {
  SessionOptions options;
  options.intra_op_threads = 1;
  return SequenceModel::load(fixture_package(form), options);
}

/// Loaded once: under sanitizers a load takes longer than the tests.
std::shared_ptr<const SequenceModel> loaded(const std::string& form) {
  static std::map<std::string, std::shared_ptr<const SequenceModel>> models;
  auto& model = models[form];
  if (!model) model = load(form);
  return model;
}

std::vector<float> row_of(std::span<const float> logits, std::size_t row) {
  const auto width = static_cast<std::size_t>(golden().vocab_size);
  const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * width);
  return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  float worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i)
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  EXPECT_LE(worst, kTolerance) << what;
}

/// The best token but padding, as the golden data was made.
std::int64_t best_token(std::vector<float> logits) {
  logits[static_cast<std::size_t>(golden().pad_token_id)] = -INFINITY;
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

/// The logits behind the last of `target`, decoded from nothing, alone.
std::vector<float> decoded_from_scratch(const SequenceModel& model, const Tokens& source,
                                        const Tokens& target) {
  const auto state = model.new_step_model();
  state->start({source});
  std::span<float> logits = state->step(target, static_cast<std::int64_t>(target.size()));
  return row_of(logits, target.size() - 1);
}

class StepModelTest : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const SequenceModel> model_ = loaded(GetParam());
  std::unique_ptr<decode::StepModel> state_ = model_->new_step_model();
};

TEST_P(StepModelTest, tells_the_sizes_of_the_model) {
  EXPECT_EQ(state_->vocab_size(), golden().vocab_size);
  EXPECT_EQ(state_->max_positions(), golden().max_positions);
  EXPECT_EQ(state_->rows(), 0);
}

TEST_P(StepModelTest, cached_steps_give_the_tokens_and_logits_of_transformers) {
  for (const GoldenCase& item : golden().cases) {
    state_->start({item.source});
    Tokens last = {golden().pad_token_id};
    for (std::size_t step = 0; step < item.tokens.size(); ++step) {
      const std::vector<float> logits = row_of(state_->step(last, 1), 0);
      expect_near(logits, item.logits[step], "step " + std::to_string(step));
      last = {best_token(logits)};
      ASSERT_EQ(last.front(), item.tokens[step]) << "step " << step;
    }
  }
}

TEST_P(StepModelTest, one_long_step_equals_cached_steps) {
  for (const GoldenCase& item : golden().cases) {
    Tokens target = {golden().pad_token_id};
    target.insert(target.end(), item.tokens.begin(), item.tokens.end() - 1);
    state_->start({item.source});
    const std::span<float> logits = state_->step(target, std::ssize(target));
    for (std::size_t step = 0; step < target.size(); ++step)
      expect_near(row_of(logits, step), item.logits[step], "position " + std::to_string(step));
  }
}

TEST_P(StepModelTest, long_step_behind_a_past_equals_cached_steps) {
  const GoldenCase& a = golden().cases[0];
  const GoldenCase& b = golden().cases[2];
  state_->start({a.source, b.source});
  state_->step(Tokens{golden().pad_token_id, golden().pad_token_id}, 1);
  const Tokens next = {a.tokens[0], a.tokens[1], a.tokens[2],
                       b.tokens[0], b.tokens[1], b.tokens[2]};
  const std::span<float> logits = state_->step(next, 3);
  ASSERT_EQ(logits.size(), 6 * static_cast<std::size_t>(golden().vocab_size));
  for (std::size_t step = 0; step < 3; ++step) {
    expect_near(row_of(logits, step), a.logits[step + 1], "a");
    expect_near(row_of(logits, 3 + step), b.logits[step + 1], "b");
  }
}

TEST_P(StepModelTest, padded_batch_equals_one_by_one) {
  const auto& cases = golden().cases;
  state_->start(golden_sources());
  ASSERT_EQ(state_->rows(), std::ssize(cases));
  Tokens last(cases.size(), golden().pad_token_id);
  for (std::size_t step = 0; step < cases[0].tokens.size(); ++step) {
    const std::span<float> logits = state_->step(last, 1);
    for (std::size_t row = 0; row < cases.size(); ++row) {
      expect_near(row_of(logits, row), cases[row].logits[step], "row " + std::to_string(row));
      last[row] = cases[row].tokens[step];
    }
  }
}

TEST_P(StepModelTest, logits_may_be_written_to_without_changing_later_steps) {
  const GoldenCase& item = golden().cases[2];
  state_->start({item.source});
  std::ranges::fill(state_->step(Tokens{golden().pad_token_id}, 1), -INFINITY);
  expect_near(row_of(state_->step(Tokens{item.tokens[0]}, 1), 0), item.logits[1], "second step");
}

TEST_P(StepModelTest, finished_rows_leave_and_the_others_go_on) {
  const auto& cases = golden().cases;
  state_->start(golden_sources());
  std::vector<std::size_t> rows = {0, 1, 2, 3, 4};
  const std::vector<Tokens> selections = {{0, 1, 2, 3, 4}, {0, 2, 3, 4}, {1, 3}, {1}};
  Tokens last(rows.size(), golden().pad_token_id);
  for (std::size_t step = 0; step < selections.size(); ++step) {
    const std::span<float> logits = state_->step(last, 1);
    for (std::size_t i = 0; i < rows.size(); ++i)
      expect_near(row_of(logits, i), cases[rows[i]].logits[step], "step " + std::to_string(step));
    state_->select(selections[step]);
    std::vector<std::size_t> kept;
    last.clear();
    for (const std::int64_t origin : selections[step]) {
      kept.push_back(rows[static_cast<std::size_t>(origin)]);
      last.push_back(cases[kept.back()].tokens[step]);
    }
    rows = kept;
    ASSERT_EQ(state_->rows(), std::ssize(rows));
  }
}

TEST_P(StepModelTest, selected_rows_equal_decoding_them_from_scratch) {
  // Sentences and targets of the rows are followed beside the model through every kind of
  // selection.
  const std::vector<Tokens> selections = {
      {0, 0, 0, 1, 1, 1, 2, 2, 2},  // one row a sentence becomes three beams
      {2, 0, 1, 3, 5, 4, 8, 8, 6},  // a ring, a swap, a repeat
      {0, 1, 2, 4, 4, 4, 6, 7, 8},  // within a sentence
      {8, 7, 6, 5, 4, 3, 2, 1, 0},  // across sentences
      {0, 0, 0, 3, 3, 3},           // a sentence leaves
      {3, 4, 5, 0, 1, 2, 5, 0},     // more rows than before
      {7, 6}};
  const decode::SourceBatch sources = {golden().cases[0].source, golden().cases[2].source,
                                       golden().cases[3].source};
  struct Row {
    std::size_t sentence;
    Tokens target;
  };
  std::vector<Row> rows = {{0, {}}, {1, {}}, {2, {}}};
  state_->start(sources);
  std::int64_t token = golden().pad_token_id;
  for (const Tokens& selection : selections) {
    Tokens next;
    for (Row& row : rows) {
      row.target.push_back(token);
      next.push_back(token);
      token = (token * 7 + 5) % (golden().vocab_size - 1);
    }
    const std::span<float> logits = state_->step(next, 1);
    for (std::size_t i = 0; i < rows.size(); ++i)
      expect_near(row_of(logits, i),
                  decoded_from_scratch(*model_, sources[rows[i].sentence], rows[i].target),
                  "row " + std::to_string(i) + " of " + std::to_string(rows.size()));
    state_->select(selection);
    std::vector<Row> selected;
    for (const std::int64_t origin : selection)
      selected.push_back(rows[static_cast<std::size_t>(origin)]);
    rows = selected;
  }
}

TEST_P(StepModelTest, rows_can_be_selected_before_the_first_step) {
  const auto& cases = golden().cases;
  state_->start(golden_sources());
  state_->select(Tokens{2, 2, 0});
  const std::span<float> logits = state_->step(Tokens(3, golden().pad_token_id), 1);
  expect_near(row_of(logits, 0), cases[2].logits[0], "row 0");
  expect_near(row_of(logits, 1), cases[2].logits[0], "row 1");
  expect_near(row_of(logits, 2), cases[0].logits[0], "row 2");
}

TEST_P(StepModelTest, all_rows_may_leave_and_a_new_start_forgets_them) {
  const GoldenCase& item = golden().cases[3];
  state_->start(golden_sources());
  state_->step(Tokens(5, golden().pad_token_id), 1);
  state_->select({});
  EXPECT_EQ(state_->rows(), 0);
  EXPECT_THROW(state_->step({}, 1), Error);
  state_->start({item.source});
  expect_near(row_of(state_->step(Tokens{golden().pad_token_id}, 1), 0), item.logits[0], "restart");
}

TEST_P(StepModelTest, targets_grow_to_max_positions_and_no_further) {
  const auto most = static_cast<std::size_t>(golden().max_positions);
  state_->start({golden().cases[0].source});
  state_->step(Tokens(most - 1, 1), std::ssize(Tokens(most - 1)));
  EXPECT_THAT(
      [&] {
        state_->step(Tokens{1, 1}, 2);
      },
      testing::Throws<Error>(testing::Property(
          &Error::what, testing::HasSubstr("longer than the model's 24 positions"))));
  EXPECT_EQ(state_->step(Tokens{1}, 1).size(), static_cast<std::size_t>(golden().vocab_size));
  EXPECT_THROW(state_->step(Tokens{1}, 1), Error);
}

TEST_P(StepModelTest, refuses_sources_that_do_not_fit) {
  const auto most = static_cast<std::size_t>(golden().max_positions);
  EXPECT_NO_THROW(state_->start({Tokens(most, 3)}));
  EXPECT_THAT(
      [&] {
        state_->start({{1, 0}, Tokens(most + 1, 3)});
      },
      testing::Throws<Error>(testing::Property(
          &Error::what, testing::HasSubstr("source 1 of the batch has 25 tokens"))));
  EXPECT_THROW(state_->start({{}}), Error);
  EXPECT_THROW(state_->start({{-1, 0}}), Error);
  EXPECT_THAT(
      [&] {
        state_->start({{golden().vocab_size, 0}});
      },
      testing::Throws<Error>(testing::Property(&Error::code, ErrorCode::kInvalidArgument)));
  EXPECT_EQ(state_->rows(), 0);
}

TEST_P(StepModelTest, refuses_steps_and_rows_that_contradict_the_state) {
  state_->start({golden().cases[0].source, golden().cases[1].source});
  EXPECT_THROW(state_->step(Tokens{1}, 1), Error);
  EXPECT_THROW(state_->step(Tokens{1, 1}, 0), Error);
  EXPECT_THROW(state_->step(Tokens{1, golden().vocab_size}, 1), Error);
  EXPECT_THROW(state_->step(Tokens{1, -1}, 1), Error);
  EXPECT_THROW(state_->select(Tokens{0, 2}), Error);
  EXPECT_THROW(state_->select(Tokens{-1}), Error);
  expect_near(row_of(state_->step(Tokens(2, golden().pad_token_id), 1), 0),
              golden().cases[0].logits[0], "the state is as before");
}

TEST_P(StepModelTest, state_keeps_the_model_alive) {
  const auto state = load(GetParam())->new_step_model();
  state->start({golden().cases[1].source});
  expect_near(row_of(state->step(Tokens{golden().pad_token_id}, 1), 0), golden().cases[1].logits[0],
              "first step");
}

INSTANTIATE_TEST_SUITE_P(optimum, StepModelTest, testing::Values("merged", "three_files"),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace sampan::session
