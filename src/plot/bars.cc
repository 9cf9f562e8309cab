#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "plot/canvas.h"
#include "plot/svg.h"

namespace sampan::plot {
namespace {

constexpr double kRow = 22;
constexpr double kThickness = 14;
constexpr double kGap = 6;

bool has_place(double value, const Plot& plot) {
  return std::isfinite(value) && (!plot.x_logarithmic || value > 0);
}

Axis axis_of(const Plot& plot, std::span<const Bar> bars, const Axis::Span& span) {
  double low = plot.x_logarithmic ? std::numeric_limits<double>::infinity() : 0;
  double high = plot.x_logarithmic ? 0 : low;
  const auto cover = [&](double value) {
    if (!has_place(value, plot)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const Bar& bar : bars) cover(bar.value);
  for (const Guide& guide : plot.guides) cover(guide.value);
  if (low > high) low = high = 1;
  return {low, high, plot.x_logarithmic, span};
}

std::string note_of(const Bar& bar) {
  return bar.note.empty() ? short_number(bar.value) : bar.note;
}

/// Where a note begins so that no guide crosses it.
double beside_guides(double left, const std::string& note, const Plot& plot, const Axis& x) {
  for (const Guide& guide : plot.guides) {
    const double line = x.place(guide.value);
    if (left - kGap < line && line < left + text_width(note)) left = line + kGap;
  }
  return left;
}

/// The end of a label that is wider than the picture: it tells more than the beginning.
std::string fitted(const std::string& label, double width) {
  if (text_width(label) <= width) return label;
  std::string_view end = label;
  while (!end.empty() && text_width(end) + kFontSize > width)
    end.remove_prefix(std::max<std::size_t>(1, base::utf8_sequence_length(end)));
  return "…" + std::string(end);
}

/// Labels stand at the left of their bars, or above them where they would take too much room.
struct Layout {
  bool labels_above = false;
  double row = kRow;
  Box area;
};

Layout layout_of(const Plot& plot, std::span<const Bar> bars) {
  double labels = 0;
  double notes = 0;
  for (const Bar& bar : bars) {
    labels = std::max(labels, text_width(bar.label));
    notes = std::max(notes, text_width(note_of(bar)));
  }
  Layout layout;
  layout.labels_above = labels > plot.width * 0.4;
  if (layout.labels_above) layout.row += kLineHeight;
  Plot shape = plot;
  shape.y_title.clear();
  layout.area = area_of(shape, layout.labels_above ? kGap : labels + kGap, 0);
  layout.area.right = plot.width - notes - 2 * kGap;
  return layout;
}

}  // namespace

std::string bars(const Plot& plot, std::span<const Bar> bars) {
  const Layout layout = layout_of(plot, bars);
  Box area = layout.area;
  const Axis x = axis_of(plot, bars, {area.left, area.right});
  area.top += static_cast<double>(guide_rows(plot, x)) * kLineHeight;
  area.bottom = area.top + static_cast<double>(std::max<std::size_t>(1, bars.size())) * layout.row;
  Canvas canvas(plot, area.bottom + 2 * kLineHeight + kGap);
  draw_x_axis(plot, x, area, canvas);
  double bottom = area.top - (kRow - kThickness) / 2;
  for (const Bar& bar : bars) {
    bottom += layout.row;
    const double base = bottom - 3;
    if (layout.labels_above)
      canvas.text(area.left, base - kLineHeight, fitted(bar.label, plot.width - area.left),
                  Anchor::kStart, {});
    else
      canvas.text(area.left - kGap, base, bar.label, Anchor::kEnd, {});
    const double start = x.place(plot.x_logarithmic ? x.low() : 0);
    double end = start;
    if (has_place(bar.value, plot)) {
      end = x.place(bar.value);
      canvas.rectangle({std::min(start, end), bottom - kThickness, std::max(start, end), bottom},
                       {.colour = bar.alarming ? kAlarm : kColours[0]});
    }
    canvas.text(beside_guides(std::max(start, end) + kGap, note_of(bar), plot, x), base,
                note_of(bar), Anchor::kStart, {.opacity = 0.8, .bold = bar.alarming});
  }
  if (bars.empty()) draw_nothing({area.left, area.top, area.right, area.top + kRow}, canvas);
  draw_guides(plot, x, area, canvas);
  return std::move(canvas).finish();
}

}  // namespace sampan::plot
