#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "package/package.h"
#include "session/graph.h"
#include "session/sequence_model.h"

namespace sampan::session {

/// The two graphs of a package in the layout `ort-cpu`, checked against the contract in
/// docs/package-format.md. Immutable; names of tensors point into it.
struct FusedGraphs {
  std::unique_ptr<const Graph> encoder;
  std::unique_ptr<const Graph> decoder;
  std::int64_t vocab_size = 0;
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::size_t cache_tensors = 0;  ///< keys and values of all decoder layers: two a layer
  std::int64_t max_positions = 0;
  std::int64_t pad_token_id = 0;
  /// input_ids, positions, row_shape, query_shape, last_positions, total_length, source_lengths,
  /// then past.0.key, past.0.value, past.1.key, ... and cross.0.key, ...
  std::vector<const char*> decoder_inputs;
  /// logits, then present.0.key, ...
  std::vector<const char*> decoder_outputs;
  std::vector<std::string> tensor_names;
};

/// Throws as `SequenceModel::load`.
std::shared_ptr<const FusedGraphs> load_fused_graphs(const package::Package& package,
                                                     const SessionOptions& options);

}  // namespace sampan::session
