#pragma once

#include <optional>
#include <string>

#include "graph/model.h"
#include "quantize/graph_scope.h"
#include "quantize/weight_store.h"

namespace sampan::quantize {

/// What a node does with a weight.
struct WeightUse {
  enum class Kind {
    kProduct,  ///< input [..., inputs] times the weight, and a bias
    kRows,     ///< rows of the weight, picked by ids that the caller gives
  };
  Kind kind;
  FoundInitializer weight;
  Orientation orientation;
  std::string input;  ///< activations, or ids
  std::string bias;   ///< added to the product; empty: none
};

/// Recognises `MatMul` with a weight behind it, `Gemm` with one (neither scaled nor with a
/// transposed input), and `Gather` of rows by a graph input; nothing for other nodes.
std::optional<WeightUse> weight_use(const graph::Node& node, GraphScope& scope);

}  // namespace sampan::quantize
