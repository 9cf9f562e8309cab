#include "session/row_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sampan::session {
namespace {

using Rows = std::vector<std::int64_t>;

/// Runs the moves on a buffer whose row r holds r.
Rows run(const RowPlan& plan, std::int64_t old_rows) {
  Rows buffer(static_cast<std::size_t>(std::max(old_rows, plan.rows)), -1);
  for (std::int64_t row = 0; row < old_rows; ++row) buffer[static_cast<std::size_t>(row)] = row;
  std::int64_t spare = -1;
  for (const RowPlan::Move& move : plan.moves) {
    const std::int64_t value =
        move.from == RowPlan::kSpare ? spare : buffer[static_cast<std::size_t>(move.from)];
    (move.to == RowPlan::kSpare ? spare : buffer[static_cast<std::size_t>(move.to)]) = value;
  }
  buffer.resize(static_cast<std::size_t>(plan.rows));
  return buffer;
}

TEST(RowPlan, identity_and_a_cut_tail_move_nothing) {
  EXPECT_TRUE(plan_rows(Rows{0, 1, 2}).moves.empty());
  EXPECT_TRUE(plan_rows(Rows{0, 1}).moves.empty());
  EXPECT_TRUE(plan_rows(Rows{}).moves.empty());
}

TEST(RowPlan, only_rows_that_move_are_copied) {
  EXPECT_EQ(plan_rows(Rows{0, 0, 2, 1}).moves.size(), 2U);
  EXPECT_EQ(plan_rows(Rows{0, 2, 3}).moves.size(), 2U);
  EXPECT_FALSE(plan_rows(Rows{0, 0, 2, 1}).needs_spare);
}

TEST(RowPlan, ring_costs_one_copy_more_than_its_rows) {
  const RowPlan plan = plan_rows(Rows{1, 2, 0, 3});
  EXPECT_TRUE(plan.needs_spare);
  EXPECT_EQ(plan.moves.size(), 4U);
  EXPECT_EQ(run(plan, 4), (Rows{1, 2, 0, 3}));
}

TEST(RowPlan, random_selections_end_as_asked) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::int64_t old_rows = 1 + static_cast<std::int64_t>(random() % 9);
    Rows origins(random() % 12);
    for (std::int64_t& origin : origins)
      origin = static_cast<std::int64_t>(random() % static_cast<unsigned>(old_rows));
    const RowPlan plan = plan_rows(origins);
    ASSERT_EQ(run(plan, old_rows), origins);
    ASSERT_EQ(plan.origins, origins);
  }
}

}  // namespace
}  // namespace sampan::session
