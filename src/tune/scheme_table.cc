#include "tune/scheme_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/fail.h"
#include "quantize/dynamic_int8.h"
#include "quantize/half_precision.h"
#include "quantize/static_int8.h"
#include "tune/block_scheme.h"
#include "tune/calibration.h"
#include "tune/name_pattern.h"

namespace sampan::tune {
namespace {

/// A maker of schemes, one a value of `QuantizationScheme`.
using Prepare = PreparedScheme (*)(const QuantizeOptions& options, const SourcePackage& source,
                                   const Progress& progress);

quantize::IntegerScheme integers_of(const QuantizeOptions& options) {
  return {!options.unsigned_weights, !options.per_tensor, options.reduce_range};
}

quantize::KeepFloat keep_float_of(const QuantizeOptions& options) {
  const auto pattern = std::make_shared<const NamePattern>(options.keep_float, "--keep-float");
  return [pattern](const std::string& name) { return pattern->matches(name); };
}

PreparedScheme prepare_dynamic_int8(const QuantizeOptions& options, const SourcePackage&,
                                    const Progress&) {
  PreparedScheme prepared;
  prepared.scheme =
      std::make_unique<quantize::DynamicInt8Scheme>(integers_of(options), keep_float_of(options));
  return prepared;
}

PreparedScheme prepare_static_int8(const QuantizeOptions& options, const SourcePackage& source,
                                   const Progress& progress) {
  PreparedScheme prepared;
  prepared.scheme = std::make_unique<quantize::StaticInt8Scheme>(
      integers_of(options), calibrate(source, options, progress), method_name(options),
      keep_float_of(options));
  return prepared;
}

/// Products whose activations come near binary16's limit stay fp32, where a text was given to
/// measure them on.
PreparedScheme prepare_fp16(const QuantizeOptions& options, const SourcePackage& source,
                            const Progress& progress) {
  constexpr float kMost = quantize::kLargestHalf / 2;
  quantize::ActivationRanges ranges;
  if (!options.calibration.empty()) ranges = calibrate(source, options, progress);
  PreparedScheme prepared;
  prepared.scheme = std::make_unique<quantize::HalfPrecisionScheme>(
      [keep_float = keep_float_of(options), ranges](const std::string& name) {
        const auto range = ranges.find(name);
        const bool overflows =
            range != ranges.end() && (range->second.low < -kMost || range->second.high > kMost);
        return overflows || keep_float(name);
      });
  return prepared;
}

constexpr std::array<std::pair<QuantizationScheme, Prepare>, 5> kSchemes = {{
    {QuantizationScheme::kInt8, prepare_blocks},
    {QuantizationScheme::kInt4, prepare_blocks},
    {QuantizationScheme::kDynamicInt8, prepare_dynamic_int8},
    {QuantizationScheme::kStaticInt8, prepare_static_int8},
    {QuantizationScheme::kFp16, prepare_fp16},
}};

}  // namespace

PreparedScheme prepare_scheme(const QuantizeOptions& options, const SourcePackage& source,
                              const Progress& progress) {
  const auto found =
      std::ranges::find(kSchemes, options.scheme, &std::pair<QuantizationScheme, Prepare>::first);
  if (found == kSchemes.end())
    base::fail(ErrorCode::kInternal, "scheme {} is not in the table",
               static_cast<int>(options.scheme));
  PreparedScheme prepared = found->second(options, source, progress);
  check_runtime(prepared.scheme->record());
  return prepared;
}

}  // namespace sampan::tune
