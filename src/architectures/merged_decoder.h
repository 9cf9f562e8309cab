#pragma once

#include "graph/model.h"

namespace sampan::architectures {

/// One model with both decoders as branches of an If named `optimum::if`, chosen by the bool[1]
/// input `use_cache_branch` that follows all others: the layout of optimum's
/// decoder_model_merged.onnx, which other loaders expect. Weights move to the outer graph, once;
/// scalars and shapes stay in the branches, as the runtime needs them there. Outputs are
/// `decoder`'s; those that `with_past` does not make (the cross-attention keys and values, which
/// the caller keeps from the first call) are empty in its branch.
graph::Model merge_decoders(const graph::Model& decoder, const graph::Model& with_past);

}  // namespace sampan::architectures
