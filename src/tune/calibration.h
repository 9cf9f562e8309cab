#pragma once

#include <string>

#include "quantize/activation_range.h"
#include "sampan/quantizer.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// "minmax", "percentile99.99" or "entropy", and "-symmetric-encoder", "-symmetric-decoder" or
/// "-symmetric" behind it.
std::string method_name(const QuantizeOptions& options);

/// Measures the activations of every product with a weight on the options' calibration text. The
/// same text gives the same ranges. Throws `Error` as `decode_observed` does.
quantize::ActivationRanges calibrate(const SourcePackage& source, const QuantizeOptions& options,
                                     const Progress& progress);

}  // namespace sampan::tune
