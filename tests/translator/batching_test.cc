#include "translator/batching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sampan::translator {
namespace {

using Batches = std::vector<std::vector<std::size_t>>;

TEST(Batching, PutsSentencesOfLikeLengthTogetherLongestFirst) {
  const std::vector<std::size_t> lengths = {3, 9, 4, 9, 1};
  EXPECT_EQ(batches_by_length(lengths, {.sentences = 2, .tokens = 100}),
            (Batches{{1, 3}, {2, 0}, {4}}));
}

TEST(Batching, CountsPaddingAgainstTheTokenLimit) {
  const std::vector<std::size_t> lengths = {10, 4, 4, 4};
  // Two rows of 10 are 20 tokens, padding included; a third row would make it 30.
  EXPECT_EQ(batches_by_length(lengths, {.sentences = 8, .tokens = 20}), (Batches{{0, 1}, {2, 3}}));
}

TEST(Batching, GivesASentenceOverTheLimitABatchOfItsOwn) {
  const std::vector<std::size_t> lengths = {50, 60, 2};
  EXPECT_EQ(batches_by_length(lengths, {.sentences = 8, .tokens = 20}), (Batches{{1}, {0}, {2}}));
}

TEST(Batching, HasNoBatchForNoSentence) { EXPECT_TRUE(batches_by_length({}, {}).empty()); }

TEST(Batching, HoldsEverySentenceOnceWithinTheLimits) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> lengths(random() % 100);
    for (auto& length : lengths) length = 1 + random() % 40;
    const BatchLimits limits{1 + random() % 16, 1 + random() % 200};
    std::vector<std::size_t> seen;
    for (const auto& batch : batches_by_length(lengths, limits)) {
      ASSERT_FALSE(batch.empty());
      ASSERT_LE(batch.size(), limits.sentences);
      const std::size_t padded = batch.size() * lengths[batch.front()];
      ASSERT_TRUE(batch.size() == 1 || padded <= limits.tokens);
      for (const std::size_t index : batch) {
        ASSERT_LE(lengths[index], lengths[batch.front()]);
        seen.push_back(index);
      }
    }
    std::ranges::sort(seen);
    ASSERT_EQ(seen.size(), lengths.size());
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
  }
}

}  // namespace
}  // namespace sampan::translator
