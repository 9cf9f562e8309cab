#include "decode/top_k.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace sampan::decode {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

bool ranks_before(const RankedToken& a, const RankedToken& b) noexcept {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

}  // namespace

std::span<const RankedToken> TopK::select(std::span<const float> row, const RowMaxima& maxima,
                                          std::size_t k) {
  if (k == 0) return {};
  // k blocks hold at least k entries as high as the k-th highest block maximum, so no lower entry
  // can be among the k best.
  float threshold = kLowest;
  if (k <= maxima.blocks().size()) {
    block_order_.assign(maxima.blocks().begin(), maxima.blocks().end());
    const auto kth = block_order_.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(block_order_.begin(), kth, block_order_.end(), std::greater<>());
    threshold = std::max(threshold, *kth);
  }
  collect(row, maxima, threshold);
  const std::size_t kept = std::min(k, found_.size());
  std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept),
                    found_.end(), ranks_before);
  return {found_.data(), kept};
}

std::span<const RankedToken> TopK::reaching(std::span<const float> row, const RowMaxima& maxima,
                                            float threshold) {
  collect(row, maxima, std::max(threshold, kLowest));
  std::ranges::sort(found_, ranks_before);
  return found_;
}

void TopK::collect(std::span<const float> row, const RowMaxima& maxima, float threshold) {
  found_.clear();
  for (std::size_t block = 0; block < maxima.blocks().size(); ++block) {
    if (maxima.blocks()[block] < threshold) continue;
    const std::size_t end = std::min(row.size(), (block + 1) * kRowBlock);
    for (std::size_t i = block * kRowBlock; i < end; ++i) {
      if (row[i] >= threshold) found_.push_back({static_cast<std::int64_t>(i), row[i]});
    }
  }
}

}  // namespace sampan::decode
