#include "quantize/integer_weights.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "quantize/float_weight.h"

namespace sampan::quantize {
namespace {

std::byte round_to(float weight, float scale, const IntegerScheme& scheme) {
  const auto most = static_cast<float>(scheme.highest());
  const float steps =
      scale == 0.0f ? 0.0f : std::clamp(std::nearbyint(weight / scale), -most, most);
  return static_cast<std::byte>(static_cast<std::int64_t>(steps) + scheme.zero_point());
}

}  // namespace

std::string describe(const IntegerScheme& scheme) {
  std::string text = scheme.per_channel ? "-per-channel" : "-per-tensor";
  if (!scheme.is_signed) text += "-unsigned";
  if (scheme.reduced_range) text += "-reduced-range";
  return text;
}

IntegerWeights round_to_integers(std::span<const float> weights, const tensor::Shape& shape,
                                 Orientation orientation, const IntegerScheme& scheme) {
  check_finite(weights);
  const auto columns = static_cast<std::size_t>(shape[1]);
  const bool rows = orientation == Orientation::kRows;
  const auto channels = static_cast<std::size_t>(shape[rows ? 0 : 1]);
  const auto channel_of = [&](std::size_t index) {
    if (!scheme.per_channel) return std::size_t{0};
    return rows ? index / columns : index % columns;
  };
  IntegerWeights result{scheme, shape, {}, {}};
  result.scales.resize(scheme.per_channel ? channels : 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    float& largest = result.scales[channel_of(i)];
    largest = std::max(largest, std::fabs(weights[i]));
  }
  for (float& scale : result.scales) scale /= static_cast<float>(scheme.highest());
  result.values.resize(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    result.values[i] = round_to(weights[i], result.scales[channel_of(i)], scheme);
  return result;
}

bool IntegerWeightStore::accepts(const graph::Initializer& weight) {
  return weight.dtype == tensor::DType::kF32 && weight.shape.size() == 2 && weight.shape[0] > 0 &&
         weight.shape[1] > 0;
}

std::shared_ptr<const IntegerWeights> IntegerWeightStore::get(const graph::Initializer& weight,
                                                              Orientation orientation) {
  std::pair key{weight.name, orientation};
  if (const auto found = entries_.find(key); found != entries_.end()) {
    if (!same_content(found->second.source, weight))
      base::fail(ErrorCode::kInvalidData,
                 "initializer '{}' has two contents in the graphs of one package; export it again",
                 weight.name);
    return found->second.weights;
  }
  try {
    auto rounded = std::make_shared<const IntegerWeights>(
        round_to_integers(floats_of(weight), weight.shape, orientation, scheme_));
    entries_.emplace(std::move(key), Entry{weight, rounded});
    return rounded;
  } catch (const Error& error) {
    base::fail(error.code(), "initializer '{}': {}", weight.name, error.what());
  }
}

}  // namespace sampan::quantize
