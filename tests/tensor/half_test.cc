#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/tensor.h"

namespace sampan::tensor {
namespace {

TEST(Half, EveryFiniteValueSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(float_to_half(value), half) << "bits " << bits;
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(half_to_float(0xc000), -2.0f);
  EXPECT_EQ(half_to_float(0x7bff), 65504.0f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half_to_float(0x7e00)));
}

TEST(Half, RoundsToNearestEvenAndOverflowsToInfinity) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);          // a tie goes to the even neighbour
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);      // and so does the next one
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7c00, 0x7c00);
}

TEST(ElementCount, RefusesNegativeExtentsAndOverflow) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{3, 0, 5}), 0);
  EXPECT_EQ(element_count(Shape{2, 3}), 6);
  EXPECT_FALSE(element_count(Shape{-1, 3}));
  EXPECT_FALSE(element_count(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}));
}

}  // namespace
}  // namespace sampan::tensor
