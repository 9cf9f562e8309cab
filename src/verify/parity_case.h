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
  std::vector<std::vector<std::int64_t>> prompts;  ///< [row][token], of one length, fed at once
  std::vector<std::vector<std::int64_t>> steps;    ///< [step][row], fed one by one
};

/// Shapes in which graphs go wrong: real text of several lengths, so that all rows but one are
/// padded; several tokens at once; one source token; a short row beside a long one; and, if
/// `longest`, the last position of source and target. `texts` are token ids of sentences, at least
/// one.
std::vector<ParityCase> parity_cases(const checkpoint::ModelConfig& config,
                                     std::span<const std::vector<std::int64_t>> texts,
                                     bool longest);

}  // namespace sampan::verify
