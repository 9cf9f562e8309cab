#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "quantize/weight_store.h"

namespace sampan::quantize {

/// How a matrix is stored in whole numbers of 8 bits for the operators of ai.onnx.
struct IntegerScheme {
  /// int8 around 0; otherwise uint8 around 128.
  bool is_signed = true;
  /// A scale for each output of the matrix; otherwise one for all.
  bool per_channel = true;
  /// 7 bits, -63 to 63: two products of them and 8-bit activations fit 16 bits, which processors
  /// without VNNI add them up in.
  bool reduced_range = false;

  std::int64_t zero_point() const noexcept { return is_signed ? 0 : 128; }
  int highest() const noexcept { return reduced_range ? 63 : 127; }
};

/// "-per-channel" or "-per-tensor", and "-unsigned" and "-reduced-range" where it is so.
std::string describe(const IntegerScheme& scheme);

/// The release of ONNX Runtime that knows the 8-bit operators of ai.onnx with a scale a channel.
inline constexpr const char* kIntegerOperatorsRuntime = "1.12.0";

/// A matrix of 8-bit values in the layout of its initializer: weight = (value - zero point) *
/// scale.
struct IntegerWeights {
  IntegerScheme scheme;
  tensor::Shape shape;
  std::vector<std::byte> values;  ///< of `shape`, row-major
  std::vector<float> scales;      ///< [outputs], or one
};

/// Rounds a row-major matrix. Throws `Error` kInvalidData for a weight that is not finite.
IntegerWeights round_to_integers(std::span<const float> weights, const tensor::Shape& shape,
                                 Orientation orientation, const IntegerScheme& scheme);

/// The rounded weights of a package: each is rounded once, however many graphs use it. Not
/// thread-safe.
class IntegerWeightStore {
 public:
  explicit IntegerWeightStore(IntegerScheme scheme) : scheme_(scheme) {}

  const IntegerScheme& scheme() const noexcept { return scheme_; }

  /// Whether this weight can be rounded: F32 with two axes, none of them empty.
  static bool accepts(const graph::Initializer& weight);

  /// Throws `Error` kInvalidData when a weight of this name has another content than an earlier
  /// one, and as `round_to_integers`.
  std::shared_ptr<const IntegerWeights> get(const graph::Initializer& weight,
                                            Orientation orientation);

 private:
  struct Entry {
    graph::Initializer source;
    std::shared_ptr<const IntegerWeights> weights;
  };

  IntegerScheme scheme_;
  std::map<std::pair<std::string, Orientation>, Entry> entries_;
};

}  // namespace sampan::quantize
