#include "tune/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/caught_error.h"

namespace sampan::tune {
namespace {

TEST(NamePattern, IsLookedForAnywhereInAName) {
  const NamePattern pattern("layers\\.(0|2)\\.fc1|embed", "--keep-float");
  EXPECT_TRUE(pattern.matches("model.encoder.layers.2.fc1.weight"));
  EXPECT_TRUE(pattern.matches("embed_positions"));
  EXPECT_FALSE(pattern.matches("model.encoder.layers.1.fc1.weight"));
}

TEST(NamePattern, MatchesNothingWhereItIsEmpty) {
  EXPECT_FALSE(NamePattern("", "--keep-float").matches("anything"));
  EXPECT_FALSE(NamePattern("", "--keep-float").matches(""));
}

TEST(NamePattern, NamesTheOptionOfAWrongExpression) {
  for (const char* wrong : {"(", "[a", "a{2,1}"}) {
    const Error error = test::caught_error([&] { NamePattern(wrong, "--keep-float"); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::StartsWith(std::string("--keep-float: '") + wrong + "'"));
  }
}

}  // namespace
}  // namespace sampan::tune
