#include "tune/activation_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::tune {
namespace {

/// Of a bell with a standard deviation near 1, cut where the sums of uniform numbers end.
std::vector<float> bell(std::size_t count) {
  std::mt19937 random(5);
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = 0.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    value = static_cast<float>(sum - 6.0);
  }
  return values;
}

TEST(ActivationHistogram, KeepsEverythingByMinMax) {
  ActivationHistogram histogram;
  histogram.add(std::vector<float>{0.5f, -3.0f, 0.25f});
  histogram.add(std::vector<float>{7.0f});
  const auto range = histogram.range(RangeMethod::kMinMax, 0.5, false);
  EXPECT_EQ(range.low, -3.0f);
  EXPECT_EQ(range.high, 7.0f);
  const auto symmetric = histogram.range(RangeMethod::kMinMax, 0.0, true);
  EXPECT_EQ(symmetric.low, -7.0f);
  EXPECT_EQ(symmetric.high, 7.0f);
}

TEST(ActivationHistogram, LeavesTheFurthestValuesOutByPercentile) {
  ActivationHistogram histogram;
  std::vector<float> values = bell(100000);
  histogram.add(values);
  histogram.add(std::vector<float>{500.0f});
  const auto range = histogram.range(RangeMethod::kPercentile, 0.02, false);
  std::ranges::sort(values);
  // One cell of the histogram, whose cells the outlier has widened, is a quarter.
  EXPECT_NEAR(range.low, values[1000], 0.25f);
  EXPECT_NEAR(range.high, values[99000], 0.25f);
  EXPECT_EQ(histogram.range(RangeMethod::kPercentile, 0.0, false).high, 500.0f);
}

TEST(ActivationHistogram, CutsALonelyOutlierByEntropy) {
  ActivationHistogram plain;
  plain.add(bell(200000));
  const auto kept = plain.range(RangeMethod::kEntropy, 0.0, false);
  EXPECT_GT(kept.high, 2.5f);
  ActivationHistogram histogram;
  histogram.add(bell(200000));
  histogram.add(std::vector<float>{60.0f});
  const auto range = histogram.range(RangeMethod::kEntropy, 0.0, false);
  EXPECT_LT(range.high, 30.0f);
  EXPECT_GT(range.high, 2.5f);
  EXPECT_LE(range.low, -2.5f);
}

// Cells that depended on the order would make packages depend on it.
TEST(ActivationHistogram, GivesTheSameWhateverTheOrder) {
  std::vector<float> values = bell(5000);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] *= 100.0f;
  ActivationHistogram forwards;
  for (const float value : values) forwards.add({&value, 1});
  ActivationHistogram backwards;
  std::ranges::reverse(values);
  backwards.add(values);
  for (const auto method : {RangeMethod::kPercentile, RangeMethod::kEntropy}) {
    EXPECT_EQ(forwards.range(method, 0.01, false).low, backwards.range(method, 0.01, false).low);
    EXPECT_EQ(forwards.range(method, 0.01, false).high, backwards.range(method, 0.01, false).high);
  }
}

TEST(ActivationHistogram, KnowsNoValuesAndRefusesWhatIsNoNumber) {
  ActivationHistogram histogram;
  for (const auto method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy})
    EXPECT_EQ(histogram.range(method, 0.1, true).high, 0.0f);
  histogram.add(std::vector<float>{0.0f, 0.0f});
  for (const auto method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy})
    EXPECT_EQ(histogram.range(method, 0.1, true).high, 0.0f);
  const Error error = test::caught_error(
      [&] { histogram.add(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
}

}  // namespace
}  // namespace sampan::tune
