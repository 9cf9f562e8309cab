#pragma once

#include <cstdint>

#include "checkpoint/model_config.h"
#include "graph/model.h"
#include "optimizer/portable_weights.h"
#include "optimizer/projection.h"

namespace sampan::optimizer {

/// How the matrices of each stack are computed; embeddings and logits are the decoder's way.
struct Projections {
  Projection& encoder;
  Projection& decoder;
};

/// The graphs of the layout `ort-cpu`, as docs/package-format.md tells it.
struct FusedModels {
  graph::Model encoder;
  graph::Model decoder;
};

/// Builds both from a package's weights: contrib operators of ONNX Runtime where they are faster
/// than what they stand for. Throws `Error` kUnsupported (a model family without a fused form),
/// and as `PortableWeights`.
FusedModels build_fused(const checkpoint::ModelConfig& config, const PortableWeights& weights,
                        const Projections& projections);

/// ai.onnx version of the graphs.
inline constexpr std::int64_t kFusedOpset = 18;

}  // namespace sampan::optimizer
