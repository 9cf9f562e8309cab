#pragma once

#include <functional>
#include <memory>

#include "quantize/scheme.h"
#include "sampan/quantizer.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// A scheme ready to rewrite the graphs of one package.
struct PreparedScheme {
  std::unique_ptr<quantize::Scheme> scheme;
  /// Compares the runtime's operators with plain arithmetic on the weights that were rewritten;
  /// called behind the last graph, throws `Error` kUnsupported. Empty where nothing is to compare.
  std::function<void()> check_kernels;
};

/// The scheme that the options ask for. Schemes that need statistics gather them here, from
/// `source`. Throws what that throws.
PreparedScheme prepare_scheme(const QuantizeOptions& options, const SourcePackage& source,
                              const Progress& progress);

}  // namespace sampan::tune
