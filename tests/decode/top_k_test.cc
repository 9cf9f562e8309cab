#include "decode/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace sampan::decode {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// The k best tokens by sorting everything.
std::vector<std::int64_t> sorted_best(const std::vector<float>& row, std::size_t k) {
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > kForbidden) order.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(k, order.size()));
  return order;
}

std::vector<std::int64_t> tokens_of(std::span<const RankedToken> ranked) {
  std::vector<std::int64_t> tokens;
  for (const RankedToken& entry : ranked) tokens.push_back(entry.token);
  return tokens;
}

TEST(TopK, EqualsAFullSortForAnyRowAndCount) {
  std::mt19937 generator(5);
  RowMaxima maxima;
  TopK top_k;
  for (int round = 0; round < 300; ++round) {
    std::vector<float> row(1 + generator() % 900);
    const std::size_t levels = 1 + generator() % 50;  // few levels: many ties
    for (float& x : row) {
      x = generator() % 9 == 0 ? kForbidden : static_cast<float>(generator() % levels) - 30.0F;
    }
    const std::size_t k = generator() % 40;
    ASSERT_TRUE(maxima.scan(row));
    const auto found = top_k.select(row, maxima, k);
    EXPECT_EQ(tokens_of(found), sorted_best(row, k));
    for (const RankedToken& entry : found) {
      EXPECT_EQ(entry.logit, row[static_cast<std::size_t>(entry.token)]);
    }
  }
}

TEST(TopK, ReturnsNothingWhereEverythingIsForbidden) {
  const std::vector<float> row(200, kForbidden);
  RowMaxima maxima;
  TopK top_k;
  ASSERT_TRUE(maxima.scan(row));
  EXPECT_TRUE(top_k.select(row, maxima, 3).empty());
  EXPECT_TRUE(top_k.reaching(row, maxima, kForbidden).empty());
}

TEST(TopK, PrefersTheLowestTokenAmongEquals) {
  const std::vector<float> row(5000, 1.5F);
  RowMaxima maxima;
  TopK top_k;
  ASSERT_TRUE(maxima.scan(row));
  EXPECT_EQ(tokens_of(top_k.select(row, maxima, 3)), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(TopK, ReachingReturnsEveryEntryAtLeastAsHigh) {
  std::vector<float> row(300, 0.0F);
  row[17] = row[250] = 2.0F;
  row[99] = 5.0F;
  row[3] = 1.9F;
  RowMaxima maxima;
  TopK top_k;
  ASSERT_TRUE(maxima.scan(row));
  EXPECT_EQ(tokens_of(top_k.reaching(row, maxima, 2.0F)), (std::vector<std::int64_t>{99, 17, 250}));
}

}  // namespace
}  // namespace sampan::decode
