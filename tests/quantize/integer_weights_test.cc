#include "quantize/integer_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "quantize/float_weights.h"
#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::quantize {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> values_of(const IntegerWeights& weights) {
  std::vector<int> values;
  for (const std::byte value : weights.values)
    values.push_back(weights.scheme.is_signed ? static_cast<std::int8_t>(value)
                                              : std::to_integer<int>(value));
  return values;
}

const std::vector<float> kMatrix = {1.27f, -0.5f, 0.0f, 0.1f, 0.25f, 0.0f};

TEST(RoundToIntegers, ScalesEachOutputByItsLargestWeight) {
  const auto columns = round_to_integers(kMatrix, {2, 3}, Orientation::kColumns, {});
  EXPECT_THAT(columns.scales, ElementsAre(1.27f / 127.0f, 0.5f / 127.0f, 0.0f));
  EXPECT_THAT(values_of(columns), ElementsAre(127, -127, 0, 10, 64, 0));
  const auto rows = round_to_integers(kMatrix, {2, 3}, Orientation::kRows, {});
  EXPECT_THAT(rows.scales, ElementsAre(1.27f / 127.0f, 0.25f / 127.0f));
  EXPECT_THAT(values_of(rows), ElementsAre(127, -50, 0, 51, 127, 0));
}

TEST(RoundToIntegers, KnowsOneScaleUnsignedValuesAndSevenBits) {
  const auto tensor =
      round_to_integers(kMatrix, {2, 3}, Orientation::kColumns, {.per_channel = false});
  EXPECT_THAT(tensor.scales, ElementsAre(1.27f / 127.0f));
  EXPECT_THAT(values_of(tensor), ElementsAre(127, -50, 0, 10, 25, 0));
  const auto others =
      round_to_integers(kMatrix, {2, 3}, Orientation::kColumns,
                        {.is_signed = false, .per_channel = false, .reduced_range = true});
  EXPECT_THAT(values_of(others), ElementsAre(191, 103, 128, 133, 140, 128));
}

TEST(RoundToIntegers, StaysWithinHalfAStep) {
  std::vector<float> weights(80);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = std::sin(static_cast<float>(i) * 1.7f) * static_cast<float>(i % 16 + 1);
  const auto rounded = round_to_integers(weights, {5, 16}, Orientation::kColumns, {});
  const std::vector<int> values = values_of(rounded);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float scale = rounded.scales[i % 16];
    EXPECT_LE(std::fabs(static_cast<float>(values[i]) * scale - weights[i]), scale * 0.5001f) << i;
  }
}

TEST(IntegerWeightStore, RoundsAWeightOnceAndRefusesAnotherOfItsName) {
  IntegerWeightStore store({});
  const auto first = store.get(test::weight("w", {4, 6}), Orientation::kRows);
  EXPECT_EQ(store.get(test::weight("w", {4, 6}), Orientation::kRows), first);
  EXPECT_NE(store.get(test::weight("w", {4, 6}), Orientation::kColumns), first);
  const Error error = test::caught_error([&] {
    store.get(test::weight("w", {4, 6}, 1.0f), Orientation::kRows);
  });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("'w' has two contents"));
}

TEST(IntegerWeightStore, NamesAWeightThatIsNoNumber) {
  IntegerWeightStore store({});
  const float infinity = std::numeric_limits<float>::infinity();
  const Error error = test::caught_error([&] {
    store.get(test::floats("w", {1, 2}, {1.0f, infinity}), Orientation::kRows);
  });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("'w': a weight is inf"));
}

TEST(IntegerWeightStore, TakesMatricesOfFloatsAlone) {
  EXPECT_TRUE(IntegerWeightStore::accepts(test::weight("w", {3, 1})));
  EXPECT_FALSE(IntegerWeightStore::accepts(test::weight("w", {3})));
  EXPECT_FALSE(IntegerWeightStore::accepts(test::weight("w", {1, 3, 1})));
  EXPECT_FALSE(IntegerWeightStore::accepts(test::weight("w", {3, 0})));
  graph::Initializer ids = test::weight("w", {3, 1});
  ids.dtype = tensor::DType::kI32;
  EXPECT_FALSE(IntegerWeightStore::accepts(ids));
}

}  // namespace
}  // namespace sampan::quantize
