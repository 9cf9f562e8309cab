#include "translator/batching.h"

#include <algorithm>
#include <numeric>

namespace sampan::translator {

std::vector<std::vector<std::size_t>> batches_by_length(std::span<const std::size_t> lengths,
                                                        const BatchLimits& limits) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t index) { return lengths[index]; });

  std::vector<std::vector<std::size_t>> batches;
  std::size_t width = 0;  // of the batch being filled: the length of its first sentence
  for (const std::size_t index : order) {
    const bool fits = !batches.empty() && batches.back().size() < limits.sentences &&
                      width * (batches.back().size() + 1) <= limits.tokens;
    if (!fits) {
      batches.emplace_back();
      width = lengths[index];
    }
    batches.back().push_back(index);
  }
  return batches;
}

}  // namespace sampan::translator
