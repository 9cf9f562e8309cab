#include "sampan/quantizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"
#include "evaluate/package_size.h"
#include "package/package_writer.h"
#include "translator/package_check.h"
#include "tune/package_rewrite.h"
#include "tune/scheme_table.h"

namespace sampan {
namespace {

constexpr std::array<std::int64_t, 5> kBlockSizes = {16, 32, 64, 128, 256};

/// That target has its own blocks and its own choice of what is quantised.
bool changes_portable_weights(const QuantizeOptions& options) {
  return options.asymmetric || options.gptq || !options.keep_float.empty() ||
         !options.keep_int8.empty() || options.block_size != QuantizeOptions{}.block_size ||
         options.max_bleu_loss.has_value();
}

/// Sizes of a package; its manifest is no part of what is compared.
void add_sizes(const std::filesystem::path& folder, std::uint64_t& graphs, std::uint64_t& package) {
  const evaluate::PackageSize size = evaluate::package_size(folder);
  graphs = size.model_bytes;
  package = size.folder_bytes - std::filesystem::file_size(folder / package::kManifestName);
}

QuantizeSummary optimize(const std::filesystem::path& folder, const std::filesystem::path& output,
                         const QuantizeOptions& options) {
  OptimizeOptions optimized;
  optimized.weights = options.scheme == QuantizationScheme::kInt4 ? OptimizedWeights::kInt4
                                                                  : OptimizedWeights::kInt8;
  optimized.optimized_for = options.optimized_for;
  optimized.force = options.force;
  optimized.report = options.report;
  optimized.stop = options.stop;
  optimize_package(folder, output, optimized);
  QuantizeSummary summary;
  add_sizes(folder, summary.graph_bytes_before, summary.package_bytes_before);
  add_sizes(output, summary.graph_bytes_after, summary.package_bytes_after);
  return summary;
}

}  // namespace

std::vector<std::string> QuantizeOptions::validate() const {
  std::vector<std::string> problems;
  if (std::ranges::count(kBlockSizes, block_size) == 0)
    problems.push_back(fmt::format("block_size is {}; it must be one of {}", block_size,
                                   fmt::join(kBlockSizes, ", ")));
  if (!keep_int8.empty() && scheme != QuantizationScheme::kInt4)
    problems.push_back("keep_int8 is given; it goes with the scheme int4 alone");
  if (max_bleu_loss && !std::isfinite(*max_bleu_loss))
    problems.push_back("max_bleu_loss is not a number of BLEU points");
  if (max_bleu_loss && (source.empty() || reference.empty()))
    problems.push_back("max_bleu_loss needs text; give source and reference");
  if (!max_bleu_loss && (!source.empty() || !reference.empty()))
    problems.push_back("source and reference go with max_bleu_loss alone");
  if (max_bleu_loss && scheme != QuantizationScheme::kInt8 && scheme != QuantizationScheme::kInt4)
    problems.push_back("max_bleu_loss is given; it goes with the schemes int8 and int4 alone");
  const bool is_static = scheme == QuantizationScheme::kStaticInt8;
  if ((per_tensor || unsigned_weights || reduce_range) && !is_static &&
      scheme != QuantizationScheme::kDynamicInt8)
    problems.push_back(
        "per_tensor, unsigned_weights or reduce_range is given; they go with the schemes "
        "dynamic-int8 and static-int8 alone");
  if (gptq && scheme != QuantizationScheme::kInt8 && scheme != QuantizationScheme::kInt4)
    problems.push_back("gptq is given; it goes with the schemes int8 and int4 alone");
  if ((is_static || gptq) && calibration.empty())
    problems.push_back(
        "calibration is empty; static-int8 and gptq need a text to measure activations on");
  if (!is_static && !gptq && scheme != QuantizationScheme::kFp16 && !calibration.empty())
    problems.push_back(
        "calibration is given; it goes with gptq and the schemes static-int8 and fp16 alone");
  if (!is_static && (symmetric_encoder || symmetric_decoder))
    problems.push_back(
        "symmetric_encoder or symmetric_decoder is given; they go with the scheme static-int8 "
        "alone");
  if (target == QuantizationTarget::kOrtCpu && scheme != QuantizationScheme::kInt8 &&
      scheme != QuantizationScheme::kInt4)
    problems.push_back("target is ort-cpu; it goes with the schemes int8 and int4 alone");
  if (target == QuantizationTarget::kOrtCpu && changes_portable_weights(*this))
    problems.push_back(
        "block_size, asymmetric, gptq, keep_float, keep_int8 or max_bleu_loss is given; they go "
        "with the "
        "portable target alone");
  if (target == QuantizationTarget::kPortable && optimized_for != OptimizedFor::kLatency)
    problems.push_back("optimized_for is given; it goes with the target ort-cpu alone");
  if (!(percentile > 0.0 && percentile <= 100.0))
    problems.push_back(
        fmt::format("percentile is {}; it must be above 0 and at most 100", percentile));
  return problems;
}

QuantizeSummary quantize_package(const std::filesystem::path& folder,
                                 const std::filesystem::path& output,
                                 const QuantizeOptions& options) {
  const std::vector<std::string> problems = options.validate();
  if (!problems.empty())
    base::fail(ErrorCode::kInvalidArgument, "quantise options: {}", fmt::join(problems, "; "));
  if (options.target == QuantizationTarget::kOrtCpu) return optimize(folder, output, options);
  const tune::Progress progress{options.report, options.stop};
  const tune::SourcePackage source = tune::open_source(folder);
  package::check_apart(folder, output, "the package itself");
  // Made early: it refuses an output that is taken.
  package::PackageWriter writer(output, options.force);
  const tune::PreparedScheme prepared = tune::prepare_scheme(options, source, progress);
  QuantizeSummary summary = tune::rewrite_package(source, *prepared.scheme, writer, progress);
  if (prepared.check_kernels) {
    prepared.check_kernels();
    progress.say("the runtime's operators agree with plain arithmetic");
  }
  progress.check_stop();
  translator::check_package(writer.folder(), options.stop);
  progress.say("every graph loads and translates");
  writer.publish();
  return summary;
}

}  // namespace sampan
