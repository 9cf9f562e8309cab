#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "plot/canvas.h"
#include "plot/svg.h"

namespace sampan::plot {
namespace {

constexpr double kMostRanges = 40;
constexpr double kFewestRanges = 5;

/// Where the axis ends: at the highest value, or below a tail that would squeeze all the others.
double end_of(const std::vector<double>& sorted) {
  const double low = sorted.front();
  const double high = sorted.back();
  const double most = sorted[(sorted.size() - 1) * 99 / 100];
  if (most <= low || high - low <= 2 * (most - low)) return high;
  return most + (most - low) * 0.25;
}

struct Ranges {
  double low = 0;
  double width = 0;
  std::vector<std::size_t> counts;
};

Ranges count(const std::vector<double>& inside) {
  Ranges ranges;
  const double wanted = std::clamp(std::ceil(std::sqrt(static_cast<double>(inside.size()))),
                                   kFewestRanges, kMostRanges);
  ranges.low = inside.front();
  ranges.width = (inside.back() - inside.front()) / wanted;
  // Equal values are one range.
  ranges.counts.resize(ranges.width > 0 ? static_cast<std::size_t>(wanted) : 1);
  for (const double value : inside) {
    const double place = ranges.width > 0 ? (value - ranges.low) / ranges.width : 0;
    ++ranges.counts[std::min(static_cast<std::size_t>(place), ranges.counts.size() - 1)];
  }
  return ranges;
}

void draw_ranges(const Ranges& ranges, const Axis& x, const Axis& y, Canvas& canvas) {
  for (std::size_t i = 0; i < ranges.counts.size(); ++i) {
    if (ranges.counts[i] == 0) continue;
    const double low = ranges.low + static_cast<double>(i) * ranges.width;
    const double from = x.place(low);
    const double to = std::max(from + 2, x.place(low + ranges.width) - 0.5);
    canvas.rectangle({from, y.place(static_cast<double>(ranges.counts[i])), to, y.place(0)},
                     {.colour = kColours[0]});
  }
}

/// Tells what the axis leaves out, beside the title where there is room for both.
struct Note {
  std::string text;
  bool beside_title = false;
};

Note note_of(const Plot& plot, std::size_t beyond, double highest) {
  if (beyond == 0) return {};
  std::string text = fmt::format("{} more, up to {}", beyond, short_number(highest));
  const bool fits = text_width(plot.title) * 1.1 + text_width(text) < plot.width;
  return {std::move(text), fits};
}

}  // namespace

std::string histogram(const Plot& plot, std::span<const double> values) {
  std::vector<double> sorted;
  for (const double value : values)
    if (std::isfinite(value)) sorted.push_back(value);
  std::ranges::sort(sorted);
  std::vector<double> inside = sorted.empty() ? std::vector<double>{0} : sorted;
  const double end = end_of(inside);
  inside.erase(std::ranges::upper_bound(inside, end), inside.end());
  const Note note =
      sorted.empty() ? Note{} : note_of(plot, sorted.size() - inside.size(), sorted.back());

  const Ranges ranges = count(inside);
  const auto most = static_cast<double>(*std::ranges::max_element(ranges.counts));
  Box area = area_of(plot, tick_width(Axis(0, most, false, {})), 0);
  const Axis x(inside.front(), end, false, {area.left, area.right});
  const bool own_row = !note.text.empty() && !note.beside_title;
  area.top += static_cast<double>(guide_rows(plot, x) + (own_row ? 1 : 0)) * kLineHeight;
  const Axis y(0, most, false, {area.bottom, area.top});
  Canvas canvas(plot, plot.height);
  draw_x_axis(plot, x, area, canvas);
  draw_y_axis(plot, y, area, canvas);
  if (sorted.empty())
    draw_nothing(area, canvas);
  else
    draw_ranges(ranges, x, y, canvas);
  draw_guides(plot, x, area, canvas);
  canvas.text(area.right, (own_row ? 2 : 1) * kLineHeight - 3, note.text, Anchor::kEnd,
              {.opacity = 0.8});
  return std::move(canvas).finish();
}

}  // namespace sampan::plot
