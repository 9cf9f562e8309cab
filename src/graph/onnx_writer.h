#pragma once

#include "graph/external_data.h"
#include "graph/model.h"

namespace sampan::graph {

/// Writes a model as ONNX protobuf. The same model gives the same bytes. One weight is in memory at
/// a time, whether it goes inside the model or, as `weights` says, elsewhere. `weights` is asked
/// once for each initializer, in order, before the first byte goes to `model_file`; when it is
/// empty, all weights go inside. Initializers whose data already lies in another file keep that
/// reference. Throws `Error`: kResourceExhausted when the model would pass protobuf's 2 GiB;
/// kInternal for data that contradicts the shape; what the sinks throw.
void write_model(const Model& model, const ByteSink& model_file, const WeightSink& weights = {});

}  // namespace sampan::graph
