#pragma once

#include <cstdint>
#include <string>

#include "graph/model.h"

namespace sampan::architectures {

/// Marian's table of positions [positions, d_model], made when it is written: sines in the first
/// ceil(d_model / 2) columns, cosines in the others, of position / 10000^(2 i / d_model) for the
/// i-th column of each half; computed in double precision as transformers does. (The formula of
/// arXiv:1706.03762, section 3.5, but not interleaved.)
graph::Initializer sinusoidal_positions(std::string name, std::int64_t positions,
                                        std::int64_t d_model);

}  // namespace sampan::architectures
