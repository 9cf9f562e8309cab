#pragma once

#include <vector>

namespace sampan::evaluate {

/// Median of repeated measurements and the range they lie in.
struct Spread {
  double median = 0.0;  ///< of an even number: the mean of the two in the middle
  double least = 0.0;
  double most = 0.0;
};

/// All 0 for no values.
Spread spread_of(std::vector<double> values);

/// The smallest value that at least `percent` per cent of the values do not exceed (nearest rank);
/// `percent` lies in (0, 100]. 0 for no values.
double percentile(std::vector<double> values, double percent);

}  // namespace sampan::evaluate
