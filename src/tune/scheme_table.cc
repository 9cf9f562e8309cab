#include "tune/scheme_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/fail.h"
#include "quantize/block_operators.h"
#include "quantize/weight_only.h"
#include "tune/kernel_check.h"
#include "tune/name_pattern.h"

namespace sampan::tune {
namespace {

/// A maker of schemes, one a value of `QuantizationScheme`.
using Prepare = PreparedScheme (*)(const QuantizeOptions& options, const SourcePackage& source,
                                   const Progress& progress);

PreparedScheme prepare_blocks(const QuantizeOptions& options, const SourcePackage&,
                              const Progress&) {
  const bool small = options.scheme == QuantizationScheme::kInt4;
  const quantize::BlockScheme blocks{small ? 4 : 8, options.block_size, !options.asymmetric};
  const auto keep_float = std::make_shared<const NamePattern>(options.keep_float, "--keep-float");
  const auto keep_int8 = std::make_shared<const NamePattern>(options.keep_int8, "--keep-int8");
  quantize::SchemeRecord record = block_record(blocks);
  if (!options.keep_int8.empty()) record.name += "-mixed";
  const auto store = std::make_shared<quantize::WeightStore>();
  PreparedScheme prepared;
  prepared.scheme = std::make_unique<quantize::WeightOnlyScheme>(
      record, store,
      [blocks, keep_float,
       keep_int8](const std::string& name) -> std::optional<quantize::BlockScheme> {
        if (keep_float->matches(name)) return std::nullopt;
        quantize::BlockScheme chosen = blocks;
        if (keep_int8->matches(name)) chosen.bits = 8;
        return chosen;
      });
  prepared.check_kernels = [store] { check_kernels(*store); };
  return prepared;
}

constexpr std::array<std::pair<QuantizationScheme, Prepare>, 2> kSchemes = {{
    {QuantizationScheme::kInt8, prepare_blocks},
    {QuantizationScheme::kInt4, prepare_blocks},
}};

}  // namespace

quantize::SchemeRecord block_record(const quantize::BlockScheme& blocks) {
  return {fmt::format("int{}-block{}{}", blocks.bits, blocks.block_size,
                      blocks.symmetric ? "" : "-asymmetric"),
          fmt::format("int{}", blocks.bits), quantize::kBlockOperatorsRuntime};
}

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
