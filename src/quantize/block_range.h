#pragma once

#include <span>

#include "quantize/block_weights.h"

namespace sampan::quantize {

/// What a block is stored with: weight = (value - zero point) * scale.
struct BlockRange {
  float scale = 0.0f;
  int zero_point = 0;

  float weight_of(int value) const noexcept {
    return static_cast<float>(value - zero_point) * scale;
  }
};

/// The scale (of a few candidates for 4 bits) that leaves a block the least squared error.
BlockRange range_of(std::span<const float> block, const BlockScheme& scheme);

/// The value of so many bits that stands for the weight nearest to `weight`.
int round_to(float weight, const BlockRange& range, int bits);

/// The zero point of symmetric blocks.
constexpr int middle(int bits) { return 1 << (bits - 1); }

}  // namespace sampan::quantize
