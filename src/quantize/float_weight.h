#pragma once

#include <span>
#include <vector>

#include "graph/model.h"

/// fp32 weights of a graph, as the schemes read them.
namespace sampan::quantize {

/// The values of an F32 initializer whose data is not in another file.
std::vector<float> floats_of(const graph::Initializer& weight);

/// Whether two F32 initializers have one shape and the same bytes.
bool same_content(const graph::Initializer& a, const graph::Initializer& b);

/// Throws `Error` kInvalidData for a weight that is infinite or no number.
void check_finite(std::span<const float> weights);

}  // namespace sampan::quantize
