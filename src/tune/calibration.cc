#include "tune/calibration.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>

#include "base/fail.h"
#include "tune/activation_histogram.h"
#include "tune/calibration_run.h"

namespace sampan::tune {
namespace {

/// What was seen of a weight's activations.
struct Observations {
  ActivationHistogram histogram;
  bool in_encoder = false;
};

RangeMethod method_of(CalibrationMethod method) {
  switch (method) {
    case CalibrationMethod::kMinMax:
      return RangeMethod::kMinMax;
    case CalibrationMethod::kPercentile:
      return RangeMethod::kPercentile;
    case CalibrationMethod::kEntropy:
      return RangeMethod::kEntropy;
  }
  base::fail(ErrorCode::kInternal, "calibration method {} is unknown", static_cast<int>(method));
}

}  // namespace

std::string method_name(const QuantizeOptions& options) {
  std::string name = "minmax";
  if (options.calibration_method == CalibrationMethod::kEntropy) name = "entropy";
  if (options.calibration_method == CalibrationMethod::kPercentile)
    name = fmt::format("percentile{}", options.percentile);
  if (options.symmetric_encoder && options.symmetric_decoder) return name + "-symmetric";
  if (options.symmetric_encoder) name += "-symmetric-encoder";
  if (options.symmetric_decoder) name += "-symmetric-decoder";
  return name;
}

quantize::ActivationRanges calibrate(const SourcePackage& source, const QuantizeOptions& options,
                                     const Progress& progress) {
  std::map<std::string, Observations, std::less<>> seen;
  decode_observed(source, options, progress, [&](std::size_t, const ObservedInput& input) {
    for (const std::string& weight : input.weights) {
      Observations& observations = seen[weight];
      observations.histogram.add(input.values);
      observations.in_encoder = input.in_encoder;
    }
  });
  quantize::ActivationRanges ranges;
  for (const auto& [weight, observations] : seen) {
    const bool symmetric =
        observations.in_encoder ? options.symmetric_encoder : options.symmetric_decoder;
    ranges.emplace(weight,
                   observations.histogram.range(method_of(options.calibration_method),
                                                1.0 - options.percentile / 100.0, symmetric));
  }
  return ranges;
}

}  // namespace sampan::tune
