#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/axis.h"
#include "plot/svg.h"

namespace sampan::plot {

inline constexpr double kFontSize = 12;
inline constexpr double kLineHeight = 16;
inline constexpr std::string_view kAlarm = "#d64545";

/// Colours that read on white and on black, and apart for people who see few colours.
inline constexpr std::string_view kColours[] = {"#3b7dd8", "#d9822b", "#2a9d6f",
                                                "#b565c9", "#c9a227", "#7f8c9b"};

/// About how wide a text is drawn.
double text_width(std::string_view text);

/// A rectangle in the picture, y downward.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

enum class Anchor { kStart, kMiddle, kEnd };

/// Writes the elements of a picture.
class Canvas {
 public:
  Canvas(const Plot& plot, double height);

  struct Style {
    std::string_view colour = "currentColor";
    double opacity = 1;
    bool dashed = false;
    bool bold = false;
  };
  void rectangle(const Box& box, const Style& style);
  void line(const Box& ends, const Style& style);  ///< from left, top to right, bottom
  void polyline(const std::vector<std::pair<double, double>>& points, const Style& style);
  /// The mark of series `index` around a place: circle, square, triangle or diamond.
  void mark(std::size_t index, double x, double y);
  /// `x` is where the anchor is, `y` the base line.
  void text(double x, double y, std::string_view text, Anchor anchor, const Style& style);
  void vertical_text(double x, double y, std::string_view text);

  std::string finish() &&;

 private:
  std::string svg_;
};

/// Draws the guides as lines through `area`, their labels above it in as few rows as they need.
/// `guide_rows` tells that number beforehand.
std::size_t guide_rows(const Plot& plot, const Axis& x);
void draw_guides(const Plot& plot, const Axis& x, const Box& area, Canvas& canvas);

/// Grid, numbers and title of the horizontal axis, below `area`.
void draw_x_axis(const Plot& plot, const Axis& x, const Box& area, Canvas& canvas);
/// The same of the vertical one, at the left of `area`.
void draw_y_axis(const Plot& plot, const Axis& y, const Box& area, Canvas& canvas);

/// Says that there is nothing to see.
void draw_nothing(const Box& area, Canvas& canvas);

/// The area between the axes of a plot with both.
Box area_of(const Plot& plot, double y_labels_width, std::size_t rows_above);

/// Widest of an axis' numbers.
double tick_width(const Axis& axis);

}  // namespace sampan::plot
