#include "quantize/block_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

std::vector<float> random_matrix(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(7);
  std::vector<float> matrix(static_cast<std::size_t>(rows * columns));
  for (float& value : matrix)
    value = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;  // [-1, 1]
  return matrix;
}

std::vector<float> dequantized(const BlockWeights& weights) {
  std::vector<float> matrix(static_cast<std::size_t>(weights.rows * weights.columns));
  for (std::int64_t row = 0; row < weights.rows; ++row)
    dequantize_row(weights, row,
                   std::span(matrix).subspan(static_cast<std::size_t>(row * weights.columns),
                                             static_cast<std::size_t>(weights.columns)));
  return matrix;
}

const BlockScheme kSchemes[] = {{8, 16, true}, {8, 128, true},  {8, 32, false},
                                {4, 16, true}, {4, 128, false}, {4, 32, false}};

TEST(BlockWeights, HaveTheSizesThatTheOperatorsExpect) {
  const BlockWeights weights = quantize_rows(random_matrix(3, 96), 96, {4, 32, false});
  EXPECT_EQ(weights.rows, 3);
  EXPECT_EQ(weights.blocks(), 3);
  EXPECT_EQ(weights.values.size(), 3u * 48);
  EXPECT_EQ(weights.scales.size(), 9u);
  EXPECT_EQ(weights.zero_points.size(), 3u * 2);  // three halves of a byte make two bytes
  EXPECT_TRUE(quantize_rows(random_matrix(3, 96), 96, {8, 32, true}).zero_points.empty());
}

// The end of the range that has no value of its own is cut off by up to a step.
TEST(BlockWeights, AreOffByHalfAStepIn8BitsAndByOneAtTheRangesEnd) {
  const std::vector<float> matrix = random_matrix(5, 256);
  for (const BlockScheme& scheme : kSchemes) {
    if (scheme.bits != 8) continue;
    const BlockWeights weights = quantize_rows(matrix, 256, scheme);
    const std::vector<float> read = dequantized(weights);
    std::size_t cut_off = 0;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const float step = std::fabs(weights.scales[i / static_cast<std::size_t>(scheme.block_size)]);
      const float error = std::fabs(read[i] - matrix[i]);
      EXPECT_LE(error, 1.0001f * step) << i;
      if (error > 0.5001f * step) ++cut_off;
    }
    EXPECT_LT(cut_off, matrix.size() / 50);
  }
}

// What was rounded once is on the grid: rounding it again, at the same range, changes nothing.
TEST(BlockWeights, ThatLieOnTheGridComeBackExactly) {
  for (const BlockScheme& scheme : kSchemes) {
    const int most = (1 << scheme.bits) - 1;
    const int zero = scheme.symmetric ? (most + 1) / 2 : 5;
    std::vector<float> matrix(256);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      // The ends of the range occur in every block, so that its scale is 1/16.
      const std::size_t in_block = i % static_cast<std::size_t>(scheme.block_size);
      const int value = in_block == 0 ? 0 : in_block == 1 ? most : static_cast<int>(i * 37) % most;
      matrix[i] = static_cast<float>(value - zero) / 16.0f;
    }
    const BlockWeights weights = quantize_rows(matrix, 256, scheme);
    EXPECT_EQ(dequantized(weights), matrix) << scheme.bits << " bits of " << scheme.block_size;
  }
}

TEST(BlockWeights, OfZerosAndOfOneOutlierStayWhatTheyAre) {
  for (const BlockScheme& scheme : kSchemes) {
    std::vector<float> matrix(256, 0.0f);
    EXPECT_EQ(dequantized(quantize_rows(matrix, 256, scheme)), matrix);
    for (const float outlier : {3.0f, -3.0f}) {
      matrix[77] = outlier;
      const std::vector<float> read = dequantized(quantize_rows(matrix, 256, scheme));
      for (std::size_t i = 0; i < matrix.size(); ++i)
        EXPECT_NEAR(read[i], matrix[i], 1e-6f) << i << " in " << scheme.bits << " bits";
    }
  }
}

TEST(BlockWeights, OfOneSignKeepZeroInTheirRange) {
  std::vector<float> matrix(32, 5.0f);
  matrix[3] = 0.0f;
  const std::vector<float> read = dequantized(quantize_rows(matrix, 32, {8, 32, false}));
  EXPECT_FLOAT_EQ(read[3], 0.0f);
  EXPECT_FLOAT_EQ(read[0], 5.0f);
}

TEST(BlockWeights, TakeTheLargestFloatsAndRefuseWhatIsNotFinite) {
  std::vector<float> matrix(32, std::numeric_limits<float>::max());
  matrix[1] = std::numeric_limits<float>::lowest();
  for (const bool symmetric : {true, false})
    for (const float value : dequantized(quantize_rows(matrix, 32, {8, 32, symmetric})))
      EXPECT_FALSE(std::isnan(value));
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    matrix[5] = wrong;
    const Error error = test::caught_error([&] { quantize_rows(matrix, 32, {4, 32, true}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  }
}

// At 16 steps the range is chosen by the error it leaves: no worse than the full range.
TEST(BlockWeights, Of4BitsAreCloserThanTheFullRangeAllows) {
  std::vector<float> matrix = random_matrix(1, 128);
  matrix[9] = 4.0f;  // one weight that stretches every step
  const std::vector<float> read = dequantized(quantize_rows(matrix, 128, {4, 128, true}));
  double error = 0.0;
  double plain_error = 0.0;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const float plain = std::clamp(std::nearbyint(matrix[i] / -0.5f), -8.0f, 7.0f) * -0.5f;
    error += std::pow(static_cast<double>(read[i] - matrix[i]), 2);
    plain_error += std::pow(static_cast<double>(plain - matrix[i]), 2);
  }
  EXPECT_LT(error, 0.95 * plain_error);
}

TEST(BlockWeights, ShrinkTheBlockToOneThatDividesTheRow) {
  EXPECT_EQ(fit(512, {8, 128, true}), (BlockScheme{8, 128, true}));
  EXPECT_EQ(fit(96, {4, 128, false}), (BlockScheme{4, 32, false}));
  EXPECT_EQ(fit(48, {8, 256, true}), (BlockScheme{8, 16, true}));
  for (const std::int64_t columns : {0, -16, 8, 100})
    EXPECT_EQ(fit(columns, {8, 128, true}), std::nullopt) << columns;
}

}  // namespace
}  // namespace sampan::quantize
