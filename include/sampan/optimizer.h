#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>

#include "sampan/error.h"
#include "sampan/export.h"

namespace sampan {

/// How an optimised package stores and multiplies its matrices.
enum class OptimizedWeights {
  kFloat32,
};

struct SAMPAN_API OptimizeOptions {
  OptimizedWeights weights = OptimizedWeights::kFloat32;
  /// Replace a package that is already at the output path. Anything else there is never replaced.
  bool force = false;
  /// Called with one line for each thing that is built or written; may be empty.
  std::function<void(std::string_view)> report;
  /// Polled while weights are written; a stop ends the call with `Error` kCancelled and leaves
  /// nothing behind.
  std::stop_token stop;
};

/// Writes the form of a package that ONNX Runtime's CPU kernels run fastest: layout `ort-cpu`. The
/// source is an fp32 package as `export_checkpoint` writes it, and stays as it is. The same package
/// and options give the same bytes. The new package appears complete or not at all. Throws `Error`:
/// kNotFound, kAlreadyExists, kInvalidData, kUnsupported, kIncompatible, kInvalidArgument,
/// kPermissionDenied, kResourceExhausted, kCancelled.
SAMPAN_API void optimize_package(const std::filesystem::path& package,
                                 const std::filesystem::path& output,
                                 const OptimizeOptions& options = {});

}  // namespace sampan
