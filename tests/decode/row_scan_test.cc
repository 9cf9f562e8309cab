#include "decode/row_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace sampan::decode {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_row(std::size_t size) {
  std::mt19937 generator(static_cast<unsigned>(size));
  std::vector<float> row(size);
  for (float& x : row) x = static_cast<float>(generator() % 100000) * 0.0003F - 20.0F;
  return row;
}

TEST(RowMaxima, FindsTheHighestOfRowsOfAnyLength) {
  RowMaxima maxima;
  for (const std::size_t size : {1U, 2U, 63U, 64U, 65U, 128U, 1000U, 9821U}) {
    const std::vector<float> row = random_row(size);
    ASSERT_TRUE(maxima.scan(row));
    EXPECT_EQ(maxima.highest(), std::ranges::max(row)) << size;
    ASSERT_EQ(maxima.blocks().size(), (size + kRowBlock - 1) / kRowBlock);
    const std::size_t last = (maxima.blocks().size() - 1) * kRowBlock;
    EXPECT_EQ(maxima.blocks().back(),
              *std::max_element(row.begin() + static_cast<std::ptrdiff_t>(last), row.end()));
  }
}

TEST(RowMaxima, NoticesNanAndInfinityAnywhereInTheRow) {
  RowMaxima maxima;
  for (const std::size_t at : {0U, 7U, 63U, 64U, 129U, 130U}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
      std::vector<float> row = random_row(131);
      row[at] = bad;
      EXPECT_FALSE(maxima.scan(row)) << bad << " at " << at;
    }
  }
}

TEST(RowMaxima, TakesMinusInfinityAsAnEntry) {
  RowMaxima maxima;
  std::vector<float> row(100, -kInfinity);
  EXPECT_TRUE(maxima.scan(row));
  EXPECT_EQ(maxima.highest(), -kInfinity);
  row[70] = -3.0F;
  EXPECT_TRUE(maxima.scan(row));
  EXPECT_EQ(maxima.highest(), -3.0F);
  EXPECT_EQ(maxima.blocks().front(), -kInfinity);
}

TEST(ExpOfNegative, IsWithinTwoUnitsInTheLastPlace) {
  for (double x = -86.9; x <= 0.0; x += 0.0137) {
    const float rounded = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(rounded));
    EXPECT_NEAR(static_cast<double>(exp_of_negative(rounded)) / exact, 1.0, 2.4e-7) << x;
  }
  EXPECT_EQ(exp_of_negative(0.0F), 1.0F);
  EXPECT_LT(exp_of_negative(-1000.0F), 2e-38F);
  EXPECT_LT(exp_of_negative(-kInfinity), 2e-38F);
}

TEST(SumOfExponentials, AgreesWithDoublePrecision) {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 1000U, 65001U}) {
    const std::vector<float> row = random_row(size);
    const float highest = std::ranges::max(row);
    double exact = 0.0;
    for (const float x : row) exact += std::exp(static_cast<double>(x - highest));
    EXPECT_NEAR(static_cast<double>(sum_of_exponentials(row, highest)) / exact, 1.0, 2e-6) << size;
  }
}

}  // namespace
}  // namespace sampan::decode
