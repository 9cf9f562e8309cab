#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>

#include "verify/model_inputs.h"
#include "verify/report.h"

namespace sampan::verify {

struct ModelComparisonOptions {
  /// The model to compare with; empty: `expected` is compared with instead.
  std::filesystem::path against;
  /// Arrays of the model's inputs, of outputs, and of inner values if one likes; empty: none.
  std::filesystem::path expected;
  /// Arrays of the inputs to run both models on; empty: inputs are made up.
  std::filesystem::path inputs;
  InputOptions made_up;
  /// Largest difference allowed of a float, relative to the largest magnitude in the expected
  /// tensor (to 1 where all are smaller). Whole numbers and truth values must be equal.
  double limit = 1e-4;
  int threads = 0;  ///< 0: as many as this process may use
  std::function<void(std::string_view)> progress;
  std::stop_token stop;
};

/// Holds any ONNX model against another one, or against recorded outputs: output by output, by
/// their names. Where an output differs, values of inner nodes are compared as well, as far as both
/// sides know their names, and the first node (in the model's order) that differs is the report's
/// place. Throws `Error`: kInvalidArgument for options that do not fit the models and for models
/// without an output in common; what `session::GraphRunner` and `tensor::NpzFile` throw for files
/// that cannot be loaded; kCancelled. Nothing is written.
Report compare_models(const std::filesystem::path& model, const ModelComparisonOptions& options);

}  // namespace sampan::verify
