#include "plot/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sampan::plot {
namespace {

using testing::ElementsAre;

TEST(Axis, RoundNumbersCoverTheValues) {
  EXPECT_THAT(Axis(0, 100, false, {}).ticks(), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(Axis(-1.2, 3.1, false, {}).ticks(), ElementsAre(-2, 0, 2, 4));
  EXPECT_THAT(Axis(0, 0.3, false, {}).ticks(),
              ElementsAre(0, testing::DoubleEq(0.1), testing::DoubleEq(0.2),
                          testing::DoubleNear(0.3, 1e-12)));
}

TEST(Axis, ALogarithmicAxisCountsPowersOfTen) {
  EXPECT_THAT(
      Axis(0.002, 0.5, true, {}).ticks(),
      ElementsAre(testing::DoubleEq(0.001), testing::DoubleEq(0.01), testing::DoubleEq(0.1), 1));
  const Axis wide(1e-12, 1e3, true, {});
  EXPECT_LE(wide.ticks().size(), 7u);
  EXPECT_LE(wide.low(), 1e-12 * 1.0001);
  EXPECT_GE(wide.high(), 1e3);
}

TEST(Axis, OneValueStillHasAnAxis) {
  for (const double value : {0.0, 5.0, -3.0}) {
    const Axis axis(value, value, false, {0, 10});
    EXPECT_LT(axis.low(), value);
    EXPECT_GT(axis.high(), value);
    EXPECT_NEAR(axis.place(value), 5, 1e-9);
  }
  EXPECT_THAT(Axis(1, 1, true, {}).ticks(), ElementsAre(1, 10));
}

TEST(Axis, PlacesGoFromOneEndToTheOtherAndNotBeyond) {
  const Axis even(0, 100, false, {200, 0});  // upward
  EXPECT_EQ(even.place(0), 200);
  EXPECT_EQ(even.place(50), 100);
  EXPECT_EQ(even.place(1e9), 0);
  const Axis powers(1, 100, true, {0, 200});
  EXPECT_NEAR(powers.place(10), 100, 1e-9);
  EXPECT_EQ(powers.place(-1), 0);
}

TEST(ShortNumber, HasNoMoreDigitsThanAReaderNeeds) {
  EXPECT_EQ(short_number(0.001), "0.001");
  EXPECT_EQ(short_number(1.23456), "1.23");
  EXPECT_EQ(short_number(2500), "2500");
  EXPECT_EQ(short_number(1e-7), "1e-07");
  EXPECT_EQ(short_number(-0.0), "0");
}

}  // namespace
}  // namespace sampan::plot
