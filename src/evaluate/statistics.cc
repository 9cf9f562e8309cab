#include "evaluate/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sampan::evaluate {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t upper = values.size() / 2;
  const std::size_t lower = (values.size() - 1) / 2;
  return {(values[lower] + values[upper]) / 2.0, values.front(), values.back()};
}

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(index, values.size() - 1)];
}

}  // namespace sampan::evaluate
