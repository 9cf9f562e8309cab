#pragma once

#include <string_view>

#include "quantize/integer_rewrite.h"
#include "quantize/scheme.h"

namespace sampan::quantize {

/// The largest finite binary16 number (IEEE 754).
inline constexpr float kLargestHalf = 65504.0f;

/// Half the size: weights and most of the computing in binary16, for accelerators. Inputs and
/// outputs keep their names and stay fp32; casts stand at the borders and around what stays fp32:
/// - operators whose intermediate values need the range or the precision (normalisations, softmax,
///   powers, roots, sums), and those that this program does not know;
/// - nodes with a constant that binary16 cannot hold. The lowest and the highest fp32 number, which
///   masks are made of, become binary16's own;
/// - nodes with a weight for which `keep_float` says so.
class HalfPrecisionScheme final : public Scheme {
 public:
  explicit HalfPrecisionScheme(KeepFloat keep_float);

  SchemeRecord record() const override;
  /// Throws `Error` kInvalidData for a weight that is not finite.
  graph::Model rewrite(const graph::Model& model, std::string_view graph_file) override;

 private:
  KeepFloat keep_float_;
};

}  // namespace sampan::quantize
