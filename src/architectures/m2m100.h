#pragma once

#include "architectures/architecture.h"

namespace sampan::architectures {

/// M2M100 (Fan et al. 2020, arXiv:2010.11125): pre-norm layers, a norm behind each stack, ReLU, one
/// embedding for everything, and sinusoidal positions that count from behind the pad token's id and
/// leave pad tokens out. Throws as `build_graphs`.
Seq2SeqGraphs build_m2m100(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options);

}  // namespace sampan::architectures
