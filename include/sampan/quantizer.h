#pragma once

#include <cstddef>
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
#include "sampan/optimizer.h"

namespace sampan {

/// How the weights of a package are stored.
enum class QuantizationScheme {
  kInt8,  ///< 8 bits a weight in blocks with a scale each: a quarter of the size, close to fp32
  kInt4,  ///< 4 bits a weight in blocks: an eighth of the size, at some cost in quality
  /// 8 bits a weight, activations rounded as they come, with ONNX's own operators: for loaders
  /// other than sampan. By ONNX's definition all lines of a batch share the scale of an activation,
  /// so that a line can depend on its neighbours.
  kDynamicInt8,
  /// 8 bits a weight, activations rounded with scales that were measured on text
  /// (QuantizeLinear and DequantizeLinear): for loaders other than sampan, and for accelerators.
  kStaticInt8,
  /// Weights and most of the computing in binary16, for accelerators: half the size. Inputs and
  /// outputs stay fp32. Processors convert back to fp32, so that nothing is faster there.
  kFp16,
};

/// What runs a quantised package.
enum class QuantizationTarget {
  kPortable,  ///< the graphs of the source, rewritten
  kOrtCpu,  ///< graphs made for ONNX Runtime's processor kernels, as `optimize_package` writes them
};

/// How the range of an activation is chosen from the values that a calibration text gives it.
enum class CalibrationMethod {
  kMinMax,      ///< everything that was seen
  kPercentile,  ///< without the values furthest out
  kEntropy,     ///< the cut that keeps the most information (Kullback-Leibler divergence)
};

struct SAMPAN_API QuantizeOptions {
  QuantizationScheme scheme = QuantizationScheme::kInt8;
  QuantizationTarget target = QuantizationTarget::kPortable;
  /// For kOrtCpu with kInt8.
  OptimizedFor optimized_for = OptimizedFor::kLatency;
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
  /// For kDynamicInt8 and kStaticInt8: one scale a weight instead of one for each of its outputs.
  /// Slightly smaller, further from the original.
  bool per_tensor = false;
  /// For both: weights as uint8 instead of int8. Slower for many rows, and exact on
  /// processors that are not for int8 (x86 without VNNI).
  bool unsigned_weights = false;
  /// For both: weights of 7 bits, for x86 processors without VNNI, whose 8-bit products of
  /// large weights overflow.
  bool reduce_range = false;
  /// For kInt8 and kInt4: round so that the products with real inputs, those of the calibration
  /// text, change least (GPTQ). Every fifth sentence is held back; where compensated rounding does
  /// not lower the loss on these, rounding stays plain.
  bool gptq = false;
  /// For kStaticInt8 and gptq, and kFp16 if given: text to measure activations on, a source
  /// sentence a line, or a NumPy file
  /// (.npz) of input_ids and attention_mask [sentence, position]. The fp32 package translates it
  /// greedily. A few hundred lines like those that will be translated do.
  std::filesystem::path calibration;
  /// Sentences taken from the front of it; 0: all.
  std::size_t calibration_lines = 0;
  CalibrationMethod calibration_method = CalibrationMethod::kMinMax;
  /// For kPercentile: share of the values that are inside the range, above 0 and at most 100.
  double percentile = 99.999;
  /// Ranges with the same extent on both sides of 0, for accelerators that want them.
  bool symmetric_encoder = false;
  bool symmetric_decoder = false;
  /// Target language of the calibration text, for multilingual models; empty: their first.
  std::string target_language;
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
