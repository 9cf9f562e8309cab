#pragma once

#include "quantize/weight_store.h"

namespace sampan::tune {

/// Compares the runtime's MatMulNBits, with one row (decoding) and with several (encoding), and its
/// GatherBlockQuantized with plain arithmetic, for one weight of each shape and scheme in the
/// store. Throws `Error` kUnsupported for one that this runtime gets wrong on this processor,
/// naming it.
void check_kernels(const quantize::WeightStore& store);

}  // namespace sampan::tune
