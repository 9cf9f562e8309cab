#pragma once

#include <string>

#include "graph/model.h"

namespace sampan::graph {

/// A model or graph as text, for tests and for reading: one line for each input, initializer, node
/// and output, in the graph's order; the same graph gives the same text.
///
///     graph encoder
///       input input_ids: I64 [batch_size, encoder_sequence_length]
///       weight model.shared.weight: F32 [9821, 256]
///       weight constant.[0,-1]: I64 [2] = {0, -1}
///       /embed/Gather = Gather(model.shared.weight, input_ids)
///       /norm/ReduceMean = ReduceMean(/embed/Gather) axes=[-1] keepdims=1
///       output last_hidden_state: F32 [batch_size, encoder_sequence_length, 256]
///
/// Values of integer tensors up to 16 elements are shown, and of float scalars. A node whose name
/// is not that of its first output is followed by `# name`. Weights in other files show their
/// place.
std::string to_text(const Graph& graph);
std::string to_text(const Model& model);

}  // namespace sampan::graph
