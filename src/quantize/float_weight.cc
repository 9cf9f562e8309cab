#include "quantize/float_weight.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <variant>

#include "base/fail.h"
#include "graph/external_data.h"

namespace sampan::quantize {

using graph::Initializer;

std::vector<float> floats_of(const Initializer& weight) {
  std::vector<float> floats(graph::byte_size(weight) / sizeof(float));
  graph::copy_bytes(weight, std::as_writable_bytes(std::span(floats)));
  return floats;
}

bool same_content(const Initializer& a, const Initializer& b) {
  if (a.shape != b.shape) return false;
  const auto* left = std::get_if<graph::BorrowedBytes>(&a.data);
  const auto* right = std::get_if<graph::BorrowedBytes>(&b.data);
  if (left == nullptr || right == nullptr) {
    const std::vector<float> x = floats_of(a);
    const std::vector<float> y = floats_of(b);
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  }
  return left->bytes.data() == right->bytes.data() || std::ranges::equal(left->bytes, right->bytes);
}

void check_finite(std::span<const float> weights) {
  const auto wrong = std::ranges::find_if(weights, [](float w) { return !std::isfinite(w); });
  if (wrong != weights.end())
    base::fail(ErrorCode::kInvalidData, "a weight is {}; the checkpoint is damaged or overflowed",
               *wrong);
}

}  // namespace sampan::quantize
