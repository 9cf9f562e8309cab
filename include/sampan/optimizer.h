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
  kInt8,  ///< 8 bits a weight
  kInt4,  ///< 4 bits a weight in the decoder and the embeddings, 8 in the encoder
};

/// What a package of 8 bits is made for. What a sentence becomes does not depend on its neighbours
/// in either, but may differ between the two.
enum class OptimizedFor {
  kLatency,     ///< one sentence, or a few, at a time
  kThroughput,  ///< many sentences at once
};

struct SAMPAN_API OptimizeOptions {
  OptimizedWeights weights = OptimizedWeights::kFloat32;
  /// Only kInt8 has a form for throughput; the others are the same for both.
  OptimizedFor optimized_for = OptimizedFor::kLatency;
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
/// and options give the same bytes. The new package is loaded and translates a sentence before it
/// appears, complete or not at all. Throws `Error`: kNotFound, kAlreadyExists, kInvalidData,
/// kUnsupported, kIncompatible, kInvalidArgument, kPermissionDenied, kResourceExhausted,
/// kCancelled.
SAMPAN_API void optimize_package(const std::filesystem::path& package,
                                 const std::filesystem::path& output,
                                 const OptimizeOptions& options = {});

}  // namespace sampan
