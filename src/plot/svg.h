#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Plots as SVG: one <svg> element as text, for a page or (it has its namespace) a file of its own.
/// Words and lines take the page's colour, so that light and dark pages both read; nothing outside
/// the element is referred to. The same arguments give the same bytes. Values that are NaN or
/// infinite, or not above 0 on a logarithmic axis, have no place and are left out. Thread-safe.
namespace sampan::plot {

/// A place on the horizontal axis that a reader should see: a limit, a percentile.
struct Guide {
  double value = 0;
  std::string label;
};

struct Plot {
  std::string title;    ///< drawn above, and read aloud in the plot's place
  std::string x_title;  ///< beside the axis, with its unit
  std::string y_title;
  bool x_logarithmic = false;
  bool y_logarithmic = false;
  std::vector<Guide> guides;
  /// In units of the picture, of which a letter is 12 high; a page scales it to its column.
  double width = 440;
  double height = 270;  ///< unused by `bars`, which is as high as its bars need
};

struct Bar {
  std::string label;
  double value = 0;
  bool alarming = false;  ///< drawn in the colour of a warning
  /// Written at the bar's end; empty: the value.
  std::string note;
};

/// Bars that lie one below the other, from 0 or, on a logarithmic axis, from its lower end. The
/// vertical axis has no title.
std::string bars(const Plot& plot, std::span<const Bar> bars);

/// How many of `values` lie in each of up to 40 ranges of one width. Where the highest per cent of
/// the values would more than double the axis, it is left out, and a note tells how many and how
/// high they are. Guides beyond the axis stand at its end.
std::string histogram(const Plot& plot, std::span<const double> values);

struct Point {
  double x = 0;
  double y = 0;
  std::string label;  ///< beside the point; may be empty
};

struct Series {
  std::string name;  ///< in the legend, which a plot with one series lacks
  std::vector<Point> points;
  bool connected = false;  ///< a line through the points in their order, instead of marks
};

/// Points, or lines through them. Each series has a colour and a mark of its own, up to six.
std::string scatter(const Plot& plot, std::span<const Series> series);

/// Text as XML and HTML take it, in an element or a quoted attribute: the five characters with a
/// meaning are escaped, and what no document may hold is replaced.
std::string escape(std::string_view text);

}  // namespace sampan::plot
