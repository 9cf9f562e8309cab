#pragma once

#include <string_view>

namespace sampan::verify {

/// What a package is held to, by the precision that its manifest names; docs/verify.md has them as
/// a table.
struct Limits {
  double states = 1e-4;  ///< largest absolute difference of states, keys and values
  /// Largest difference of a logit, relative to the largest magnitude among the reference's logits
  /// at the same position (1 where all of them are smaller).
  double logits = 1e-5;
  double inner_values = 1e-5;    ///< of one operator by itself, relative likewise
  double different_lines = 0.0;  ///< share of lines whose tokens are not the reference's
  double more_repeats = 0.0;     ///< share of lines that repeat themselves, above the reference's
};

/// Those of fp32 for a precision that is not known: nothing excuses a difference.
Limits limits_of(std::string_view precision);

}  // namespace sampan::verify
