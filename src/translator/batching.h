#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sampan::translator {

struct BatchLimits {
  std::size_t sentences = 32;  ///< most sentences of a batch, 1 or more
  std::size_t tokens = 2048;   ///< most tokens of a batch, padding included
};

/// Groups sentences of like length, so that little is padded: result [batch][sentence] holds
/// indices of `lengths`, the longest first, equal lengths in input order. Every index appears once.
/// A sentence longer than `limits.tokens` has a batch of its own.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths,
                                                        const BatchLimits& limits);

}  // namespace sampan::translator
