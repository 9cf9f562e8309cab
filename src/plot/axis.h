#pragma once

#include <string>
#include <vector>

namespace sampan::plot {

/// Places numbers along one side of a picture.
class Axis {
 public:
  /// What the ends of the axis are drawn at, in the picture's units.
  struct Span {
    double from = 0;
    double to = 0;
  };

  /// Covers `low` to `high`, which are finite, `low` <= `high`; widened to round numbers (to powers
  /// of ten on a logarithmic axis, where both must be above 0), and never of no length.
  Axis(double low, double high, bool logarithmic, Span span);

  /// Where a number is drawn. Numbers beyond the ends are drawn at the end.
  double place(double value) const;
  /// Round numbers to write beside the axis, some five of them, ascending, both ends among them.
  const std::vector<double>& ticks() const { return ticks_; }
  double low() const { return ticks_.front(); }
  double high() const { return ticks_.back(); }

 private:
  bool logarithmic_;
  Span span_;
  std::vector<double> ticks_;
};

/// A number as short as a reader needs it: "0.001", "2500", "1e-07".
std::string short_number(double value);

}  // namespace sampan::plot
