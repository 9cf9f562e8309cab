#include "plot/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/utf8.h"

namespace sampan::plot {
namespace {

constexpr double kGap = 6;

std::string paint(const Canvas::Style& style, std::string_view property) {
  std::string text = fmt::format(" {}=\"{}\"", property, style.colour);
  if (style.opacity < 1) text += fmt::format(" opacity=\"{:.2f}\"", style.opacity);
  if (style.dashed) text += " stroke-dasharray=\"4 3\"";
  return text;
}

std::string_view anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart:
      return "start";
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
  }
  return "";
}

/// Which row each guide's label goes to, the lowest being 0.
std::vector<std::size_t> rows_of_guides(const Plot& plot, const Axis& x) {
  std::vector<std::size_t> rows;
  std::vector<std::vector<std::pair<double, double>>> taken;
  for (const Guide& guide : plot.guides) {
    const double half = text_width(guide.label) / 2 + kGap / 2;
    const double middle = x.place(guide.value);
    std::size_t row = 0;
    const auto hits = [&](const auto& other) {
      return middle - half < other.second && other.first < middle + half;
    };
    while (row < taken.size() && std::ranges::any_of(taken[row], hits)) ++row;
    if (row == taken.size()) taken.emplace_back();
    taken[row].emplace_back(middle - half, middle + half);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string valid(text);
  base::replace_invalid_utf8(valid);
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
          result += c;
        else
          result += "\xef\xbf\xbd";
    }
  }
  return result;
}

double text_width(std::string_view text) {
  constexpr char32_t kFirstWide = 0x2e80;  // East Asian characters are as wide as they are high
  double width = 0;
  for (const char32_t c : base::code_points(text))
    width += c >= kFirstWide ? kFontSize : kFontSize * 0.6;
  return width;
}

double tick_width(const Axis& axis) {
  double width = 0;
  for (const double tick : axis.ticks()) width = std::max(width, text_width(short_number(tick)));
  return width;
}

Canvas::Canvas(const Plot& plot, double height)
    : svg_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
                       "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" "
                       "font-family=\"system-ui, sans-serif\" font-size=\"{3}\">\n",
                       plot.width, height, escape(plot.title), kFontSize)) {
  if (!plot.title.empty()) text(0, kLineHeight - 3, plot.title, Anchor::kStart, {.bold = true});
}

void Canvas::rectangle(const Box& box, const Style& style) {
  svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"{}/>\n",
                      box.left, box.top, box.right - box.left, box.bottom - box.top,
                      paint(style, "fill"));
}

void Canvas::line(const Box& ends, const Style& style) {
  svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{}/>\n",
                      ends.left, ends.top, ends.right, ends.bottom, paint(style, "stroke"));
}

void Canvas::polyline(const std::vector<std::pair<double, double>>& points, const Style& style) {
  svg_ += "<polyline points=\"";
  for (const auto& [x, y] : points) svg_ += fmt::format("{:.1f},{:.1f} ", x, y);
  svg_ += fmt::format("\" fill=\"none\"{}/>\n", paint(style, "stroke"));
}

void Canvas::mark(std::size_t index, double x, double y) {
  const std::string fill = fmt::format("fill=\"{}\"", kColours[index % std::size(kColours)]);
  switch (index % 4) {
    case 0:
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" {}/>\n", x, y, fill);
      break;
    case 1:
      svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\" {}/>\n",
                          x - 3.5, y - 3.5, fill);
      break;
    case 2:
      svg_ += fmt::format("<path d=\"M{:.1f} {:.1f}l5 8.5h-10z\" {}/>\n", x, y - 5, fill);
      break;
    default:
      svg_ += fmt::format("<path d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\" {}/>\n", x, y - 5, fill);
  }
}

void Canvas::text(double x, double y, std::string_view text, Anchor anchor, const Style& style) {
  if (text.empty()) return;
  svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
                      anchor_name(anchor), paint(style, "fill"),
                      style.bold ? " font-weight=\"600\"" : "", escape(text));
}

void Canvas::vertical_text(double x, double y, std::string_view text) {
  svg_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\" fill=\"currentColor\">{}</text>\n",
      x, y, escape(text));
}

std::string Canvas::finish() && { return std::move(svg_) + "</svg>\n"; }

std::size_t guide_rows(const Plot& plot, const Axis& x) {
  const auto rows = rows_of_guides(plot, x);
  return rows.empty() ? 0 : *std::ranges::max_element(rows) + 1;
}

void draw_guides(const Plot& plot, const Axis& x, const Box& area, Canvas& canvas) {
  const auto rows = rows_of_guides(plot, x);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double place = x.place(plot.guides[i].value);
    const double half = text_width(plot.guides[i].label) / 2;
    const double base = area.top - 4 - static_cast<double>(rows[i]) * kLineHeight;
    canvas.line({place, base + 2, place, area.bottom}, {.dashed = true});
    // Near an end of the picture the label leans inward rather than out.
    const double middle = std::clamp(place, half, std::max(half, plot.width - half));
    canvas.text(middle, base, plot.guides[i].label, Anchor::kMiddle, {});
  }
}

void draw_x_axis(const Plot& plot, const Axis& x, const Box& area, Canvas& canvas) {
  for (const double tick : x.ticks()) {
    const double place = x.place(tick);
    canvas.line({place, area.top, place, area.bottom}, {.opacity = 0.15});
    canvas.text(place, area.bottom + kLineHeight, short_number(tick), Anchor::kMiddle,
                {.opacity = 0.8});
  }
  canvas.line({area.left, area.bottom, area.right, area.bottom}, {.opacity = 0.6});
  canvas.text((area.left + area.right) / 2, area.bottom + 2 * kLineHeight, plot.x_title,
              Anchor::kMiddle, {});
}

void draw_y_axis(const Plot& plot, const Axis& y, const Box& area, Canvas& canvas) {
  for (const double tick : y.ticks()) {
    const double place = y.place(tick);
    canvas.line({area.left, place, area.right, place}, {.opacity = 0.15});
    canvas.text(area.left - kGap, place + kFontSize / 3, short_number(tick), Anchor::kEnd,
                {.opacity = 0.8});
  }
  if (!plot.y_title.empty())
    canvas.vertical_text(kFontSize, (area.top + area.bottom) / 2, plot.y_title);
}

void draw_nothing(const Box& area, Canvas& canvas) {
  canvas.text((area.left + area.right) / 2, (area.top + area.bottom) / 2, "no values",
              Anchor::kMiddle, {.opacity = 0.6});
}

Box area_of(const Plot& plot, double y_labels_width, std::size_t rows_above) {
  const double title = plot.title.empty() ? kGap : kLineHeight + kGap;
  const double y_title = plot.y_title.empty() ? 0 : kLineHeight + 2;
  return {y_title + y_labels_width + kGap,
          title + static_cast<double>(rows_above) * kLineHeight + kGap, plot.width - 2 * kFontSize,
          plot.height - 2 * kLineHeight - kGap};
}

}  // namespace sampan::plot
