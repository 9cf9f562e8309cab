#include "quantize/compensated_rounding.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "quantize/input_moments.h"
#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

using test::caught_error;

constexpr std::int64_t kColumns = 64;
constexpr std::size_t kWidth = 64;

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// Rows whose elements go together, as those of activations do.
std::vector<float> correlated_inputs(std::size_t rows) {
  constexpr std::size_t kCauses = 8;
  const std::vector<float> causes = random_floats(rows * kCauses, 1);
  const std::vector<float> mixing = random_floats(kCauses * kWidth, 2);
  std::vector<float> inputs = random_floats(rows * kWidth, 3);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < kWidth; ++i) {
      float& value = inputs[row * kWidth + i];
      value *= 0.1f;
      for (std::size_t c = 0; c < kCauses; ++c)
        value += causes[row * kCauses + c] * mixing[c * kWidth + i];
    }
  return inputs;
}

// What stored weights change in the products of one row with all inputs, squared, summed plainly.
double product_error(const BlockWeights& stored, std::span<const float> weights,
                     const std::vector<float>& inputs, std::int64_t row) {
  std::vector<float> real(kWidth);
  dequantize_row(stored, row, real);
  const auto original = weights.subspan(static_cast<std::size_t>(row) * kWidth, kWidth);
  double sum = 0.0;
  for (std::size_t x = 0; x < inputs.size(); x += kWidth) {
    double difference = 0.0;
    for (std::size_t i = 0; i < kWidth; ++i)
      difference += (static_cast<double>(original[i]) - static_cast<double>(real[i])) *
                    static_cast<double>(inputs[x + i]);
    sum += difference * difference;
  }
  return sum;
}

TEST(CompensatedRounding, ChangesProductsNoMoreThanPlainRoundingInAnyRow) {
  const std::vector<float> weights = random_floats(40 * kWidth, 4);
  const std::vector<float> inputs = correlated_inputs(500);
  InputMoments moments(kColumns);
  moments.add(inputs);
  for (const BlockScheme& scheme :
       {BlockScheme{4, 16, true}, BlockScheme{4, 32, false}, BlockScheme{4, 64, true},
        BlockScheme{8, 32, true}, BlockScheme{8, 16, false}}) {
    const BlockWeights plain = quantize_rows(weights, kColumns, scheme);
    const BlockWeights compensated =
        quantize_rows_compensated(weights, kColumns, scheme, moments.sums());
    EXPECT_EQ(compensated.values.size(), plain.values.size());
    EXPECT_EQ(compensated.zero_points.size(), plain.zero_points.size());
    double before = 0.0;
    double after = 0.0;
    for (std::int64_t row = 0; row < plain.rows; ++row) {
      const double one = product_error(plain, weights, inputs, row);
      const double other = product_error(compensated, weights, inputs, row);
      EXPECT_LE(other, one * (1.0 + 1e-9)) << row;
      before += one;
      after += other;
    }
    EXPECT_LT(after, 0.5 * before) << scheme.bits << " bits, blocks of " << scheme.block_size;
  }
}

// A table with more rows than are under way at once.
TEST(CompensatedRounding, DoesNotDependOnTheRowsBeside) {
  const std::vector<float> weights = random_floats(1030 * kWidth, 5);
  InputMoments moments(kColumns);
  moments.add(correlated_inputs(200));
  const BlockScheme scheme{4, 64, true};
  const BlockWeights all = quantize_rows_compensated(weights, kColumns, scheme, moments.sums());
  const BlockWeights last = quantize_rows_compensated(std::span(weights).last(6 * kWidth), kColumns,
                                                      scheme, moments.sums());
  std::vector<float> expected(kWidth);
  std::vector<float> found(kWidth);
  for (std::int64_t row = 0; row < last.rows; ++row) {
    dequantize_row(last, row, expected);
    dequantize_row(all, 1024 + row, found);
    EXPECT_EQ(found, expected) << row;
  }
}

TEST(CompensatedRounding, IsPlainWhereNoInputWasSeen) {
  const std::vector<float> weights = random_floats(3 * kWidth, 6);
  InputMoments moments(kColumns);
  const BlockScheme scheme{4, 32, false};
  const BlockWeights plain = quantize_rows(weights, kColumns, scheme);
  const BlockWeights other = quantize_rows_compensated(weights, kColumns, scheme, moments.sums());
  EXPECT_EQ(other.values, plain.values);
  EXPECT_EQ(other.scales, plain.scales);
}

TEST(CompensatedRounding, TakesInputsThatAreAlwaysZeroOrAlwaysEqual) {
  const std::vector<float> weights = random_floats(3 * kWidth, 7);
  std::vector<float> inputs(kWidth, 0.0f);
  std::fill_n(inputs.begin(), 10, 1e4f);
  InputMoments moments(kColumns);
  moments.add(inputs);
  const BlockScheme scheme{4, 32, true};
  const BlockWeights stored = quantize_rows_compensated(weights, kColumns, scheme, moments.sums());
  const BlockWeights plain = quantize_rows(weights, kColumns, scheme);
  for (std::int64_t row = 0; row < stored.rows; ++row)
    EXPECT_LE(product_error(stored, weights, inputs, row),
              product_error(plain, weights, inputs, row) * (1.0 + 1e-9));
}

TEST(CompensatedRounding, RefusesMomentsOfAnotherSizeAndSuchAsNoInputsHave) {
  const std::vector<float> weights = random_floats(kWidth, 8);
  const BlockScheme scheme{4, 32, true};
  const std::vector<double> few(16, 1.0);
  EXPECT_EQ(caught_error([&] { quantize_rows_compensated(weights, kColumns, scheme, few); }).code(),
            ErrorCode::kInternal);
  std::vector<double> wrong(kWidth * kWidth, 1e6);
  wrong[0] = 1.0;
  EXPECT_EQ(
      caught_error([&] { quantize_rows_compensated(weights, kColumns, scheme, wrong); }).code(),
      ErrorCode::kInvalidData);
}

TEST(InputMoments, SumsProductsOfAllPairsOfInputs) {
  InputMoments moments(3);
  double expected = 0.0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<float> row = {1.0f, static_cast<float>(i), -2.0f};
    moments.add(row);
    expected += static_cast<double>(i) * i;
  }
  EXPECT_EQ(moments.rows_seen(), 300u);
  const std::span<const double> sums = moments.sums();
  EXPECT_EQ(sums[0], 300.0);
  EXPECT_EQ(sums[4], expected);
  EXPECT_EQ(sums[6], -600.0);
  EXPECT_EQ(sums[8], 1200.0);
}

TEST(InputMoments, RefusesWhatIsNotFiniteAndOtherLengths) {
  InputMoments moments(2);
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(caught_error([&] {
                moments.add(std::vector<float>{1.0f, bad});
              }).code(),
              ErrorCode::kInvalidData);
  EXPECT_EQ(caught_error([&] { moments.add(std::vector<float>(3)); }).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace sampan::quantize
