#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plot/canvas.h"
#include "plot/svg.h"

namespace sampan::plot {
namespace {

bool has_place(const Point& point, const Plot& plot) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!plot.x_logarithmic || point.x > 0) &&
         (!plot.y_logarithmic || point.y > 0);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void cover(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// For a plot without points.
  void settle() {
    if (low > high) low = high = 1;
  }
};

/// Puts labels where they hide neither each other nor a mark, as far as four places allow.
class Labels {
 public:
  Labels(const Box& area, Canvas& canvas) : area_(area), canvas_(canvas) {}

  void keep_clear(double x, double y) { taken_.push_back({x - 5, y - 5, x + 5, y + 5}); }

  void write(double x, double y, const std::string& label) {
    if (label.empty()) return;
    const double width = text_width(label);
    const double up = kFontSize * 0.4;
    struct Place {
      double x, base;
      Anchor anchor;
      double left;
    };
    const Place places[] = {{x + 8, y + up, Anchor::kStart, x + 8},
                            {x - 8, y + up, Anchor::kEnd, x - 8 - width},
                            {x, y - 9, Anchor::kMiddle, x - width / 2},
                            {x, y + 18, Anchor::kMiddle, x - width / 2}};
    const auto box = [&](const Place& place) {
      return Box{place.left, place.base - kFontSize * 0.8, place.left + width, place.base + 2};
    };
    const auto free = [&](const Place& place) {
      const Box wanted = box(place);
      return wanted.left >= area_.left && wanted.right <= area_.right + 2 * kFontSize &&
             wanted.top >= area_.top - kFontSize && wanted.bottom <= area_.bottom &&
             std::ranges::none_of(taken_, [&](const Box& other) { return wanted.overlaps(other); });
    };
    const auto* found = std::ranges::find_if(places, free);
    if (found == std::end(places)) found = places;
    taken_.push_back(box(*found));
    canvas_.text(found->x, found->base, label, found->anchor, {});
  }

 private:
  const Box& area_;
  Canvas& canvas_;
  std::vector<Box> taken_;
};

/// One row below the title.
void draw_legend(std::span<const Series> series, Canvas& canvas) {
  double left = 5;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double middle = 1.5 * kLineHeight + 2;
    if (series[i].connected)
      canvas.line({left - 5, middle, left + 5, middle},
                  {.colour = kColours[i % std::size(kColours)]});
    else
      canvas.mark(i, left, middle);
    canvas.text(left + 9, middle + kFontSize / 3, series[i].name, Anchor::kStart, {});
    left += text_width(series[i].name) + 30;
  }
}

void draw_points(const Plot& plot, std::span<const Series> series,
                 const std::pair<Axis, Axis>& axes, Labels& labels, Canvas& canvas) {
  const auto& [x, y] = axes;
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::vector<std::pair<double, double>> line;
    for (const Point& point : series[i].points) {
      if (!has_place(point, plot)) continue;
      if (series[i].connected)
        line.emplace_back(x.place(point.x), y.place(point.y));
      else
        canvas.mark(i, x.place(point.x), y.place(point.y));
      labels.keep_clear(x.place(point.x), y.place(point.y));
    }
    if (!line.empty()) canvas.polyline(line, {.colour = kColours[i % std::size(kColours)]});
  }
  for (const Series& one : series)
    for (const Point& point : one.points)
      if (has_place(point, plot)) labels.write(x.place(point.x), y.place(point.y), point.label);
}

}  // namespace

std::string scatter(const Plot& plot, std::span<const Series> series) {
  Range across;
  Range up;
  for (const Series& one : series)
    for (const Point& point : one.points)
      if (has_place(point, plot)) {
        across.cover(point.x);
        up.cover(point.y);
      }
  for (const Guide& guide : plot.guides)
    if (has_place({guide.value, 1, {}}, plot)) across.cover(guide.value);
  const bool empty = up.low > up.high;
  across.settle();
  up.settle();
  const std::size_t legend = series.size() > 1 ? 1 : 0;
  const double width = tick_width(Axis(up.low, up.high, plot.y_logarithmic, {}));
  Box area = area_of(plot, width, legend);
  const Axis x(across.low, across.high, plot.x_logarithmic, {area.left, area.right});
  area.top += static_cast<double>(guide_rows(plot, x)) * kLineHeight;
  const Axis y(up.low, up.high, plot.y_logarithmic, {area.bottom, area.top});
  Canvas canvas(plot, plot.height);
  draw_x_axis(plot, x, area, canvas);
  draw_y_axis(plot, y, area, canvas);
  draw_guides(plot, x, area, canvas);
  if (empty) draw_nothing(area, canvas);
  if (legend > 0) draw_legend(series, canvas);
  Labels labels(area, canvas);
  draw_points(plot, series, {x, y}, labels, canvas);
  return std::move(canvas).finish();
}

}  // namespace sampan::plot
