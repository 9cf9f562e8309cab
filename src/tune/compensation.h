#pragma once

#include <memory>

#include "quantize/weight_store.h"
#include "tune/block_scheme.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// A store for the weights of `plan` that rounds them so that products with the inputs of the
/// options' calibration text change least (GPTQ), if that lowers the loss on every fifth sentence
/// of it, which is held back; else one that rounds plainly. What was measured is said, and goes
/// into `plan`'s record. Throws `Error` as `decode_observed` does; kInvalidArgument for a text of
/// fewer than 10 sentences; kInvalidData for activations that are not finite.
std::shared_ptr<quantize::WeightStore> compensated_store(const QuantizeOptions& options,
                                                         const SourcePackage& source,
                                                         BlockPlan& plan, const Progress& progress);

}  // namespace sampan::tune
