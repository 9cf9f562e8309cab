#include "tune/scheme_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/fail.h"
#include "tune/block_scheme.h"

namespace sampan::tune {
namespace {

/// A maker of schemes, one a value of `QuantizationScheme`.
using Prepare = PreparedScheme (*)(const QuantizeOptions& options, const SourcePackage& source,
                                   const Progress& progress);

constexpr std::array<std::pair<QuantizationScheme, Prepare>, 2> kSchemes = {{
    {QuantizationScheme::kInt8, prepare_blocks},
    {QuantizationScheme::kInt4, prepare_blocks},
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
