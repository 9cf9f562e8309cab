#pragma once

#include "quantize/weight_only.h"
#include "tune/scheme_table.h"

namespace sampan::tune {

/// How the weights of a block scheme are stored, and what the manifest says of it.
struct BlockPlan {
  quantize::SchemeRecord record;
  quantize::SchemeChoice choose;
};

/// kInt8 and kInt4: weights in blocks, each as the options or, with `max_bleu_loss`, the search
/// says.
PreparedScheme prepare_blocks(const QuantizeOptions& options, const SourcePackage& source,
                              const Progress& progress);

}  // namespace sampan::tune
