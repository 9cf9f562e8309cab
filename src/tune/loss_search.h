#pragma once

#include <memory>
#include <string>

#include "quantize/weight_store.h"
#include "tune/block_scheme.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// Looks for the smallest package whose loss of BLEU against the source package, on every second
/// pair of the options' text, is `max_bleu_loss` at most. Layers that 4 (or 8) bits cost most, for
/// the bytes they save, are the first to get 8 bits, then fp32; along this path the package grows,
/// and the search bisects it. What a layer costs is the rise of -log p of the source package's own
/// translations when that layer alone is rounded. Says each step and, of what it found, the loss on
/// the other pairs. `plan` is what the options ask for at its smallest. Throws `Error`
/// kInvalidArgument for text that cannot serve; kUnsupported where no package is within the loss.
BlockPlan search_within_loss(const QuantizeOptions& options, const SourcePackage& source,
                             const BlockPlan& plan,
                             const std::shared_ptr<quantize::WeightStore>& store,
                             const Progress& progress);

/// The layer that a weight belongs to: "model.encoder.layers.3", or the weight itself.
std::string layer_of(const std::string& weight);

}  // namespace sampan::tune
