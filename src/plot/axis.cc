#include "plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sampan::plot {
namespace {

constexpr double kWantedSteps = 4;

/// The round number (1, 2, 2.5 or 5 times a power of ten) at or above `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

std::vector<double> even_ticks(double low, double high) {
  if (low == high) {
    const double margin = low == 0 ? 1 : std::abs(low) / 10;
    low -= margin;
    high += margin;
  }
  const double step = round_step((high - low) / kWantedSteps);
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  std::vector<double> ticks;
  // Multiplied, not added up, so that 0 is 0.
  for (double i = first; i <= last; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> power_ticks(double low, double high) {
  const double first = std::floor(std::log10(low) + 1e-9);
  const double last = std::max(first + 1, std::ceil(std::log10(high) - 1e-9));
  const double step = std::max(1.0, std::ceil((last - first) / (kWantedSteps + 1)));
  std::vector<double> ticks;
  double power = first;
  for (; power < last; power += step) ticks.push_back(std::pow(10, power));
  ticks.push_back(std::pow(10, power));
  return ticks;
}

}  // namespace

Axis::Axis(double low, double high, bool logarithmic, Span span)
    : logarithmic_(logarithmic),
      span_(span),
      ticks_(logarithmic ? power_ticks(low, high) : even_ticks(low, high)) {}

double Axis::place(double value) const {
  const double inside = std::clamp(value, low(), high());
  const double share = logarithmic_ ? std::log(inside / low()) / std::log(high() / low())
                                    : (inside - low()) / (high() - low());
  return span_.from + share * (span_.to - span_.from);
}

std::string short_number(double value) {
  const double magnitude = std::abs(value);
  // Added to, so that -0 is 0.
  return magnitude >= 1000 && magnitude < 1e6 ? fmt::format("{:.0f}", value)
                                              : fmt::format("{:.3g}", value + 0.0);
}

}  // namespace sampan::plot
