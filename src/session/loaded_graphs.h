#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "package/package.h"
#include "session/contract.h"
#include "session/graph.h"
#include "session/sequence_model.h"

namespace sampan::session {

/// A decoder graph and the names that a run feeds and asks for, in the order in which `StepRun`
/// lines up the tensors: input_ids, encoder_attention_mask, then what `inputs` says of
/// encoder_hidden_states, use_cache_branch, self- and cross-attention K/V; out come the logits,
/// self-attention K/V and, of the first step, cross-attention K/V.
struct DecoderRun {
  const Graph* graph = nullptr;
  DecoderInputs inputs;
  std::vector<const char*> input_names;
  std::vector<const char*> output_names;
};

/// The graphs of a package, checked against the contract. Immutable.
struct LoadedGraphs {
  std::unique_ptr<const Graph> encoder;
  std::unique_ptr<const Graph> decoder;            ///< of the first step, or merged
  std::unique_ptr<const Graph> decoder_with_past;  ///< null if `decoder` is merged
  DecoderContract contract;
  DecoderRun first_run;
  DecoderRun next_run;
  std::int64_t max_positions = 0;
  std::int64_t pad_token_id = 0;
};

/// Throws as `SequenceModel::load`.
std::shared_ptr<const LoadedGraphs> load_graphs(const package::Package& package,
                                                const SessionOptions& options);

}  // namespace sampan::session
