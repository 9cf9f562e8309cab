#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "decode/step_model.h"
#include "sampan/generation.h"
#include "sampan/quantizer.h"
#include "tune/observed_step_model.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// The calibration text, and what the fp32 package makes of it.
struct CalibrationRun {
  decode::SourceBatch sources;
  std::vector<std::vector<std::int64_t>> targets;  ///< one for each source, as searches give them
  GenerationConfig generation;                     ///< what they were searched with
};

/// Told the activations of products, and the number of the sentence that they belong to.
using ObserveSentence = std::function<void(std::size_t sentence, const ObservedInput& input)>;

/// Encodes the sentences of the options' calibration file and decodes them greedily with the fp32
/// graphs, cache and all, one at a time. The same text shows the same activations. Throws `Error`
/// as `read_calibration_text`, `ObservedStepModel` and `decode::search` do; kCancelled.
CalibrationRun decode_observed(const SourcePackage& source, const QuantizeOptions& options,
                               const Progress& progress, const ObserveSentence& observe);

}  // namespace sampan::tune
