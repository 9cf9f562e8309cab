#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/search.h"

namespace sampan::decode {

/// log-probability (natural logarithm) that the model gives each token of given targets: result
/// [i][j] belongs to targets[i][j], which follows the prefix of inputs[i] and targets[i][0, j).
/// Tokens that may never appear (`bad_words_ids` of one token, `suppress_tokens`) take no share of
/// the probability and have -infinity themselves: an OPUS-MT checkpoint would otherwise give most
/// of it to its padding token. The other constraints guide a search and do not act here, nor does a
/// maximum length other than the model's. Targets should hold their end of sentence.
/// Throws `Error`: kInvalidArgument (config.validate(); as many targets as inputs; tokens outside
/// the vocabulary; empty or too long sentences), kCancelled, kDeadlineExceeded, kInvalidData (NaN),
/// and whatever the model throws.
std::vector<std::vector<float>> score_targets(StepModel& model, std::span<const SearchInput> inputs,
                                              std::span<const std::vector<std::int64_t>> targets,
                                              const GenerationConfig& config,
                                              const SearchControl& control = {});

}  // namespace sampan::decode
