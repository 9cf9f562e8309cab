#pragma once

#include <cstddef>
#include <span>

#include "sampan/machine_choice.h"

namespace sampan::tune {

/// The index of the fastest trial within the loss, or of the smallest one that is nearly as fast.
/// The trials are not empty; one of them loses nothing (fp32).
std::size_t best_trial(std::span<const MachineTrial> trials, double most_loss);

}  // namespace sampan::tune
