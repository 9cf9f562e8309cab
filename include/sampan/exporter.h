#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string_view>

#include "sampan/error.h"
#include "sampan/export.h"

namespace sampan {

/// Where the weights of a package are stored.
enum class PackageLayout {
  kShared,    ///< each weight once, in one data file that all graphs refer to: the smallest folder
  kSeparate,  ///< every graph complete in itself, in a folder `onnx/`, as hubs and browsers want it
};

struct SAMPAN_API ExportOptions {
  /// Version of the ai.onnx operator set, 14 to 18.
  std::int64_t opset = 17;
  PackageLayout layout = PackageLayout::kShared;
  /// Replace a package that is already at the output path. Anything else there is never replaced.
  bool force = false;
  /// Called with one line for each thing that is built or written; may be empty.
  std::function<void(std::string_view)> report;
  /// Polled while weights are written; a stop ends the export with `Error` kCancelled and leaves
  /// nothing behind.
  std::stop_token stop;
};

/// Writes the ONNX package of a HuggingFace checkpoint folder. The same checkpoint and options give
/// the same bytes. The package appears at `output` complete or not at all.
/// Throws `Error`: kNotFound, kAlreadyExists, kInvalidData, kUnsupported, kInvalidArgument,
/// kPermissionDenied, kResourceExhausted, kCancelled.
SAMPAN_API void export_checkpoint(const std::filesystem::path& checkpoint,
                                  const std::filesystem::path& output,
                                  const ExportOptions& options = {});

}  // namespace sampan
