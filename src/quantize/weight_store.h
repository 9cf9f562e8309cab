#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "graph/model.h"
#include "quantize/block_weights.h"

namespace sampan::quantize {

/// How a weight lies in its initializer.
enum class Orientation {
  kRows,     ///< [outputs, inputs], as Gather and Gemm with transB read it
  kColumns,  ///< [inputs, outputs], as MatMul reads it
};

/// Rounds the weight of this name, [outputs, inputs] in row-major order, to blocks.
using Rounder = std::function<BlockWeights(const std::string& name, std::span<const float> weights,
                                           std::int64_t columns, const BlockScheme& scheme)>;

/// The quantised weights of a package: each is rounded once to each scheme, however many graphs use
/// it. Not thread-safe.
class WeightStore {
 public:
  /// Without a rounder, `quantize_rows` rounds.
  explicit WeightStore(Rounder rounder = {});

  /// `wanted`, with the block that fits the weight's rows; nothing where the weight cannot be
  /// stored in blocks: not F32, not two axes, or rows of no whole blocks.
  static std::optional<BlockScheme> fitting(const graph::Initializer& weight,
                                            Orientation orientation, const BlockScheme& wanted);

  /// The rounded weight, as [outputs, inputs]; `scheme` as of `fitting`. Throws `Error`
  /// kInvalidData when a weight of this name has another content than an earlier one, and as the
  /// rounder does.
  std::shared_ptr<const BlockWeights> get(const graph::Initializer& weight, Orientation orientation,
                                          const BlockScheme& scheme);

  /// Every weight so far.
  using Key = std::tuple<std::string, Orientation, BlockScheme>;
  struct Entry {
    graph::Initializer source;
    std::shared_ptr<const BlockWeights> weights;
  };
  const std::map<Key, Entry>& entries() const noexcept { return entries_; }

 private:
  Rounder round_;
  std::map<Key, Entry> entries_;
};

}  // namespace sampan::quantize
