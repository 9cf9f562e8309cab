#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/model_config.h"
#include "decode/step_model.h"

namespace sampan::verify {

/// One batch that the graphs and the reference are both run on. Targets are given tokens rather
/// than searched ones, so that a first difference does not hide the others.
struct ParityCase {
  std::string name;
  decode::SourceBatch sources;
  /// [step][row][token]: what is fed at once, of one length in all rows of a step. The first step
  /// begins with the decoder start token; the others follow it.
  std::vector<std::vector<std::vector<std::int64_t>>> steps;
};

struct ParityCaseOptions {
  bool longest = true;  ///< the last position of source and target
  bool chunks = true;   ///< several tokens at once behind others
};

/// Shapes in which graphs go wrong: real text of several lengths, so that all rows but one are
/// padded; several tokens at once; one source token; a short row beside long ones; and what the
/// options say. `texts` are token ids of sentences, at least one.
std::vector<ParityCase> parity_cases(const checkpoint::ModelConfig& config,
                                     std::span<const std::vector<std::int64_t>> texts,
                                     const ParityCaseOptions& options);

}  // namespace sampan::verify
