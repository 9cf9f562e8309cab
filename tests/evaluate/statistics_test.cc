#include "evaluate/statistics.h"

#include <gtest/gtest.h>

namespace sampan::evaluate {
namespace {

TEST(Spread, IsTheMedianAndTheRange) {
  const Spread odd = spread_of({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 3);
  EXPECT_EQ(spread_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread_of({}).median, 0);
}

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 30), 20);
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 50), 35);
  EXPECT_EQ(percentile({15, 20, 35, 40, 50}, 100), 50);
  EXPECT_EQ(percentile({7}, 1), 7);
  EXPECT_EQ(percentile({}, 50), 0);
}

}  // namespace
}  // namespace sampan::evaluate
