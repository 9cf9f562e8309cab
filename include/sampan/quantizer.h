#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sampan/error.h"
#include "sampan/export.h"

namespace sampan {

/// How the weights of a package are stored.
enum class QuantizationScheme {
  kInt8,  ///< 8 bits a weight in blocks with a scale each: a quarter of the size, close to fp32
  kInt4,  ///< 4 bits a weight in blocks: an eighth of the size, at some cost in quality
};

struct SAMPAN_API QuantizeOptions {
  QuantizationScheme scheme = QuantizationScheme::kInt8;
  /// Neighbouring weights that share a scale: 16, 32, 64, 128 or 256, or fewer where a weight's
  /// rows are not made of whole blocks. Small ones are closer to the original and larger on disk:
  /// each block adds 4 bytes.
  std::int64_t block_size = 128;
  /// A zero point for each block: closer for 4 bits, slightly larger and slower.
  bool asymmetric = false;
  /// POSIX extended regular expression; a weight in whose name it is found stays fp32. Empty: none.
  std::string keep_float;
  /// The same for kInt4: weights that are stored in 8 bits, as sensitive layers may need it.
  std::string keep_int8;
  /// Most BLEU that the package may lose against `package` on every second pair of `source` and
  /// `reference`: layers that lose too much are stored in 8 bits, or stay fp32, so that the package
  /// is the smallest within it that the search finds. The other pairs tell the loss it reports.
  std::optional<double> max_bleu_loss;
  std::filesystem::path source;     ///< sentences, one a line
  std::filesystem::path reference;  ///< their translations
  /// Replace a package that is already at the output path. Anything else there is never replaced.
  bool force = false;
  /// Called with one line for each thing that is checked or written; may be empty.
  std::function<void(std::string_view)> report;
  /// Polled while weights are written; a stop ends the call with `Error` kCancelled and leaves
  /// nothing behind.
  std::stop_token stop;

  /// Every problem of these options, one sentence each; empty if they can be used.
  std::vector<std::string> validate() const;
};

/// What came of a package.
struct SAMPAN_API QuantizeSummary {
  /// A matrix that stayed fp32.
  struct FloatWeight {
    std::string name;
    std::uint64_t bytes = 0;
  };

  std::uint64_t graph_bytes_before = 0;  ///< graphs and weights
  std::uint64_t graph_bytes_after = 0;
  std::uint64_t package_bytes_before = 0;  ///< every file but the manifest
  std::uint64_t package_bytes_after = 0;
  std::vector<FloatWeight> kept_float;  ///< by the kept names, or because no block fits
};

/// Writes a smaller package with the same layout and files. Embeddings, projections and the output
/// layer are quantised; activations, normalisations and biases stay fp32. The same package and
/// options give the same bytes. Before the new package appears, the runtime's operators are
/// compared with plain arithmetic on its weights, and every graph is loaded and used to translate;
/// the package appears complete or not at all. Throws `Error`: kNotFound, kAlreadyExists,
/// kInvalidData, kUnsupported, kIncompatible (a runtime that is too old), kInvalidArgument,
/// kPermissionDenied, kResourceExhausted, kCancelled.
SAMPAN_API QuantizeSummary quantize_package(const std::filesystem::path& package,
                                            const std::filesystem::path& output,
                                            const QuantizeOptions& options = {});

}  // namespace sampan
