#include "tune/kernel_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "quantize/weight_store.h"
#include "support/caught_error.h"

namespace sampan::tune {
namespace {

using quantize::BlockScheme;
using quantize::BlockWeights;
using quantize::Orientation;
using quantize::WeightStore;

graph::Initializer table() {
  std::mt19937 random(3);
  std::vector<float> values(40 * 256);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {"table", tensor::DType::kF32, {40, 256}, std::move(bytes)};
}

TEST(KernelCheck, PassesWithEverySchemeOnThisMachine) {
  for (const int bits : {8, 4})
    for (const bool symmetric : {true, false})
      for (const std::int64_t block : {16, 32, 64, 128, 256}) {
        WeightStore store;
        store.get(table(), Orientation::kRows, {bits, block, symmetric});
        EXPECT_NO_THROW(check_kernels(store)) << bits << " " << block << " " << symmetric;
      }
}

// Zero points beside weights that say they have none: the runtime subtracts them, plain arithmetic
// does not, as with a runtime that misreads a block.
TEST(KernelCheck, RefusesARuntimeThatReadsBlocksInAnotherWay) {
  WeightStore store([](const std::string&, std::span<const float> weights, std::int64_t columns,
                       const BlockScheme& scheme) {
    BlockWeights result = quantize::quantize_rows(weights, columns, scheme);
    result.zero_points.assign(result.scales.size(), std::byte{0});
    return result;
  });
  store.get(table(), Orientation::kRows, {8, 128, true});
  const Error error = test::caught_error([&] { check_kernels(store); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("'table'"));
}

}  // namespace
}  // namespace sampan::tune
