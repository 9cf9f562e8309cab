#pragma once

#include "architectures/architecture.h"

namespace sampan::architectures {

/// MarianMT ("Marian: Fast Neural Machine Translation in C++", arXiv:1804.00344) as
/// transformers 4.57 runs it. Throws as `build_graphs` does.
Seq2SeqGraphs build_marian(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options);

}  // namespace sampan::architectures
