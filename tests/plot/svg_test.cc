#include "plot/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/markup.h"

namespace sampan::plot {
namespace {

using test::markup_fault;
using testing::HasSubstr;
using testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// The widths of the rectangles, in their order.
std::vector<double> widths(const std::string& svg) {
  constexpr std::string_view kWidth = " width=\"";
  std::vector<double> found;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1))
    found.push_back(std::stod(svg.substr(svg.find(kWidth, at) + kWidth.size())));
  return found;
}

TEST(Bars, LengthsFollowTheValues) {
  Plot plot;
  plot.title = "Differences";
  const std::vector<Bar> values = {
      {"a", 1, false, ""}, {"b", 2, true, "too much"}, {"c", 0, false, ""}};
  const std::string svg = bars(plot, values);
  EXPECT_EQ(markup_fault(svg), "");
  const std::vector<double> found = widths(svg);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[1], 2 * found[0], 0.2);
  EXPECT_EQ(found[2], 0);
  EXPECT_THAT(svg, HasSubstr("too much"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"Differences\""));
  EXPECT_EQ(svg, bars(plot, values));
}

TEST(Bars, WhatHasNoPlaceHasNoBarButIsListed) {
  Plot plot;
  plot.x_logarithmic = true;
  plot.guides = {{1, "limit"}};
  const std::vector<Bar> values = {{"small", 1e-3, false, ""},
                                   {"zero", 0, false, ""},
                                   {"nan", kNaN, true, ""},
                                   {"inf", kInfinity, true, ""}};
  const std::string svg = bars(plot, values);
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_EQ(widths(svg).size(), 1u);
  for (const char* label : {">zero<", ">nan<", ">inf<", ">limit<"})
    EXPECT_THAT(svg, HasSubstr(label));
}

TEST(Bars, LongLabelsStandAboveTheirBarsAndLoseTheirBeginning) {
  const std::vector<Bar> values = {{"a", 1, false, ""},
                                   {std::string(200, 'x') + "end", 2, false, ""}};
  const std::string svg = bars({}, values);
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("xend<"));
  EXPECT_THAT(svg, HasSubstr(">…x"));
  EXPECT_THAT(svg, Not(HasSubstr(std::string(100, 'x'))));
  EXPECT_GT(widths(svg)[1], 300);  // the bars have the room
}

TEST(Histogram, EveryValueIsCountedOnce) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  const std::string svg = histogram({}, values);
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_EQ(widths(svg).size(), 10u);  // ten values each
  EXPECT_THAT(svg, HasSubstr(">10<"));
  EXPECT_THAT(svg, Not(HasSubstr("more, up to")));
}

TEST(Histogram, AFewFarValuesDoNotSqueezeTheOthers) {
  std::vector<double> values(1000, 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 10 + static_cast<double>(i % 50) / 50;
  values.push_back(5000);
  const std::string svg = histogram({}, values);
  EXPECT_THAT(svg, HasSubstr("1 more, up to 5000"));
  EXPECT_GT(widths(svg).size(), 20u);
}

TEST(Scatter, EachSeriesHasAMarkAndALegend) {
  Plot plot;
  plot.y_title = "BLEU";
  const std::vector<Series> series = {{"fp32", {{300, 36, "plain"}, {301, kNaN, "nowhere"}}, false},
                                      {"int8", {{80, 35, "a"}, {81, 35, "b"}}, false}};
  const std::string svg = scatter(plot, series);
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_EQ(count(svg, "<circle"), 2u);  // one point and the legend
  EXPECT_EQ(count(svg, "<rect"), 3u);
  EXPECT_THAT(svg, HasSubstr(">plain<"));
  EXPECT_THAT(svg, Not(HasSubstr("nowhere")));
  EXPECT_THAT(svg, HasSubstr(">BLEU<"));
}

TEST(Scatter, AConnectedSeriesIsALine) {
  const std::vector<Series> series = {{"wall", {{0, 1, ""}, {1, 3, ""}, {2, 2, ""}}, true}};
  const std::string svg = scatter({}, series);
  EXPECT_EQ(count(svg, "<polyline"), 1u);
  EXPECT_EQ(count(svg, "<circle"), 0u);
}

TEST(Plots, WithoutValuesSaySo) {
  for (const std::string& svg : {bars({}, {}), histogram({}, {}), scatter({}, {})}) {
    EXPECT_EQ(markup_fault(svg), "");
    EXPECT_THAT(svg, HasSubstr("no values"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(Escape, NoTextBreaksTheDocument) {
  EXPECT_EQ(escape("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(escape(std::string("a\xff\0b\x1b", 5)),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  Plot plot;
  plot.title = "</svg><script>\"";
  plot.x_title = "a & b";
  plot.guides = {{1, "<"}};
  const std::vector<Bar> values = {{"<x>", 1, false, "&"}};
  EXPECT_EQ(markup_fault(bars(plot, values)), "");
}

}  // namespace
}  // namespace sampan::plot
