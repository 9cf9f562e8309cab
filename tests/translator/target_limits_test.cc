#include "translator/target_limits.h"

#include <gtest/gtest.h>

#include <limits>

namespace sampan::translator {
namespace {

TEST(TargetLimit, IsTheSmallestOfConfigurationGuardAndPositions) {
  GenerationConfig config;
  config.max_length = 200;
  EXPECT_EQ(target_limit(config, {.source_tokens = 4, .max_positions = 512}), 26);
  EXPECT_EQ(target_limit(config, {.source_tokens = 5, .max_positions = 512}), 28);
  EXPECT_EQ(target_limit(config, {.source_tokens = 100, .max_positions = 512}), 200);
  EXPECT_EQ(target_limit(config, {.source_tokens = 100, .max_positions = 128}), 128);
}

TEST(TargetLimit, IsTheConfigurationsAloneWithoutTheGuard) {
  GenerationConfig config;
  config.max_length = 200;
  EXPECT_EQ(target_limit(config, {.source_tokens = 1, .max_positions = 512, .length_guard = false}),
            200);
}

TEST(TargetLimit, CountsNewTokensAfterStartAndPrefix) {
  GenerationConfig config;
  config.max_length = 5;
  config.max_new_tokens = 40;
  const TargetLimitInput input{
      .source_tokens = 1, .prefix_tokens = 3, .max_positions = 512, .length_guard = false};
  EXPECT_EQ(target_limit(config, input), 44);
}

TEST(TargetLimit, LetsThePrefixOffTheGuard) {
  GenerationConfig config;
  EXPECT_EQ(target_limit(config, {.source_tokens = 4, .prefix_tokens = 30, .max_positions = 512}),
            56);
}

TEST(TargetLimit, LeavesRoomForTheMinimum) {
  GenerationConfig config;
  config.min_length = 100;
  EXPECT_EQ(target_limit(config, {.source_tokens = 1, .max_positions = 512}), 101);
  config.min_new_tokens = 120;
  EXPECT_EQ(target_limit(config, {.source_tokens = 1, .prefix_tokens = 2, .max_positions = 512}),
            124);
}

TEST(TargetLimit, DoesNotOverflow) {
  GenerationConfig config;
  config.max_new_tokens = std::numeric_limits<std::int64_t>::max();
  config.min_new_tokens = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(target_limit(config, {.source_tokens = 1, .max_positions = 512}), 512);
  config.min_new_tokens.reset();
  config.min_length = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(target_limit(config, {.source_tokens = 1, .max_positions = 512}), 512);
}

}  // namespace
}  // namespace sampan::translator
