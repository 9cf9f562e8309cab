#include "decode/target_guard.h"

#include <gtest/gtest.h>

#include <vector>

namespace sampan::decode {
namespace {

TEST(GuardedMaxLength, IsTwoAndAHalfTimesTheSourceAndSixteen) {
  EXPECT_EQ(guarded_max_length(1), 18);
  EXPECT_EQ(guarded_max_length(2), 21);
  EXPECT_EQ(guarded_max_length(7), 33);
  EXPECT_EQ(guarded_max_length(100), 266);
}

TEST(RepeatsUnit, NeedsFourUnitsInARow) {
  const auto repeats = [](std::vector<std::int64_t> tokens) { return repeats_unit(tokens); };
  EXPECT_FALSE(repeats({}));
  EXPECT_FALSE(repeats({7, 7, 7}));
  EXPECT_TRUE(repeats({7, 7, 7, 7}));
  EXPECT_TRUE(repeats({1, 2, 7, 7, 7, 7, 3, 0}));
  EXPECT_FALSE(repeats({7, 7, 7, 1, 7, 7, 7, 0}));
  EXPECT_FALSE(repeats({1, 2, 1, 2, 1, 2, 0}));
  EXPECT_TRUE(repeats({9, 1, 2, 1, 2, 1, 2, 1, 2, 0}));
  EXPECT_TRUE(repeats({1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(repeats({1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 0}));
  EXPECT_FALSE(repeats({1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
}

}  // namespace
}  // namespace sampan::decode
