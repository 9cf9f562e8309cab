#include "verify/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plot/axis.h"
#include "plot/svg.h"
#include "sampan/version.h"
#include "verify/html_style.h"

namespace sampan::verify {
namespace {

using plot::escape;
using plot::short_number;

constexpr std::size_t kRankedInPlot = 20;
constexpr std::size_t kRankedInTable = 200;
constexpr double kEqual = 1e-9;
constexpr std::size_t kMostLines = 100;

std::string_view heading_of(Outcome verdict) {
  switch (verdict) {
    case Outcome::kPassed:
      return "Passed";
    case Outcome::kFailed:
      return "Problems found";
    case Outcome::kNotChecked:
      return "Not fully checked";
  }
  return "";
}

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kNotChecked:
      return "not checked";
  }
  return "";
}

std::string term(std::string_view name, std::string_view html) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html);
}

std::string code(std::string_view text) { return fmt::format("<code>{}</code>", escape(text)); }

std::string verdict_card(const Report& report, std::string_view subject) {
  std::string html = fmt::format(
      "<section class=\"card verdict {}\">\n<h1>{}</h1>\n<strong>{}</strong>\n"
      "<p>{}</p>\n<dl>\n",
      verdict_name(report.verdict()), escape(subject), heading_of(report.verdict()),
      escape(verdict_sentence(report)));
  if (report.lines > 0) html += term("Lines translated both ways", std::to_string(report.lines));
  html += term("Time", fmt::format("{:.1f} s", report.seconds));
  if (!report.manifest_sha256.empty())
    html += term("Manifest (SHA-256)", code(report.manifest_sha256));
  return html + "</dl>\n</section>\n";
}

std::string findings(const Report& report) {
  std::string html;
  for (const Place& place : report.places)
    html += fmt::format(
        "<div class=\"card finding\"><p><b>{}</b> leaves its reference in {} at {} (node {})</p>"
        "<p class=\"faint\">difference {} where {} is allowed; {}</p></div>\n",
        code(place.name), code(place.graph), escape(place.part), code(place.node),
        short_number(place.figure), short_number(place.limit), escape(place.detail));
  for (const Check& check : report.checks) {
    if (check.outcome != Outcome::kFailed) continue;
    html += fmt::format("<div class=\"card finding\"><p><b>{}</b></p><p class=\"faint\">",
                        code(check.name));
    if (check.figure && check.limit)
      html += fmt::format("{} where {} is allowed: ", short_number(*check.figure),
                          short_number(*check.limit));
    html += escape(check.detail) + "</p></div>\n";
  }
  return html.empty() ? html : "<h2>What is wrong</h2>\n" + html;
}

/// Checks whose limit is above 0, each figure as a share of its own limit.
std::string check_plot(const Report& report) {
  std::vector<plot::Bar> bars;
  for (const Check& check : report.checks)
    if (check.figure && check.limit && *check.limit > 0)
      bars.push_back({check.name, *check.figure / *check.limit, check.outcome == Outcome::kFailed,
                      short_number(*check.figure)});
  if (bars.empty()) return "";
  plot::Plot plot;
  plot.title = "Figures of the checks, beside their limits";
  plot.x_title = "share of the limit";
  plot.x_logarithmic = true;
  plot.guides = {{1, "limit"}};
  return "<div class=\"card\">" + plot::bars(plot, bars) + "</div>\n";
}

/// Without the graph's name where there is one graph alone.
std::string value_name(const Report& report, const InnerValue& value) {
  const bool alone = std::ranges::all_of(
      report.inner_values, [&](const InnerValue& other) { return other.graph == value.graph; });
  return alone ? value.name : value.graph + ": " + value.name;
}

std::vector<InnerValue> ranked(const Report& report) {
  std::vector<InnerValue> values = report.inner_values;
  std::ranges::stable_sort(values, std::ranges::greater{}, &InnerValue::relative_error);
  return values;
}

bool is_place(const Report& report, const InnerValue& value) {
  return std::ranges::any_of(report.places, [&](const Place& place) {
    return place.graph == value.graph && place.name == value.name;
  });
}

std::string layer_plot(const Report& report, const std::vector<InnerValue>& values) {
  const std::size_t shown = std::min(values.size(), kRankedInPlot);
  std::vector<plot::Bar> bars;
  for (std::size_t i = 0; i < shown; ++i)
    bars.push_back(
        {value_name(report, values[i]), values[i].relative_error, is_place(report, values[i]), ""});
  plot::Plot plot;
  plot.title = values.size() > shown
                   ? fmt::format("Differences by layer: the largest {} of {}", shown, values.size())
                   : std::string("Differences by layer");
  plot.x_title = "relative error";
  plot.x_logarithmic = true;
  return "<div class=\"card\">" + plot::bars(plot, bars) + "</div>\n";
}

/// Differences in the order of computing: where they begin shows as a step. Values that agree to
/// more digits than a float has stand on the floor.
std::string course_plot(const Report& report) {
  plot::Series series{"relative error", {}, false};
  for (std::size_t i = 0; i < report.inner_values.size(); ++i)
    series.points.push_back(
        {static_cast<double>(i + 1), std::max(kEqual, report.inner_values[i].relative_error), ""});
  plot::Plot plot;
  plot.title = "Differences in the order of computing";
  plot.x_title = "value, in order";
  plot.y_title = "relative error";
  plot.y_logarithmic = true;
  return "<div class=\"card\">" + plot::scatter(plot, std::span(&series, 1)) + "</div>\n";
}

std::string inner_table(const Report& report, const std::vector<InnerValue>& values) {
  const std::size_t shown = std::min(values.size(), kRankedInTable);
  std::string html = fmt::format(
      "<details><summary>{} of {} inner values, the largest error first</summary>\n"
      "<table><thead><tr><th>value</th><th class=\"number\">relative error</th>"
      "<th class=\"number\">largest difference</th></tr></thead><tbody>\n",
      shown, values.size());
  for (std::size_t i = 0; i < shown; ++i)
    html += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        code(value_name(report, values[i])), short_number(values[i].relative_error),
        short_number(values[i].difference));
  return html + "</tbody></table></details>\n";
}

std::string differences(const Report& report) {
  const std::string checks = check_plot(report);
  if (checks.empty() && report.inner_values.empty()) return "";
  std::string html = "<h2>Differences</h2>\n<div class=\"plots\">\n" + checks;
  if (report.inner_values.empty()) return html + "</div>\n";
  const std::vector<InnerValue> values = ranked(report);
  return html + layer_plot(report, values) + course_plot(report) + "</div>\n" +
         inner_table(report, values);
}

std::string check_table(const Report& report) {
  std::string html =
      "<h2>Checks</h2>\n<div class=\"card\"><table class=\"checks\"><thead><tr><th>outcome</th>"
      "<th>check</th><th class=\"number\">figure</th><th class=\"number\">limit</th><th>detail</th>"
      "</tr></thead><tbody>\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? short_number(*value) : std::string();
  };
  for (const Check& check : report.checks)
    html += fmt::format(
        "<tr><td><span class=\"badge {}\">{}</span></td><td>{}</td><td class=\"number\">{}</td>"
        "<td class=\"number limit\">{}</td><td class=\"detail\">{}</td></tr>\n",
        verdict_name(check.outcome), word_of(check.outcome), code(check.name), number(check.figure),
        number(check.limit), escape(check.detail));
  return html + "</tbody></table></div>\n";
}

std::string line_differences(const Report& report) {
  if (report.line_differences.empty()) return "";
  std::string html = "<h2>Lines that are not as recorded</h2>\n";
  const std::size_t shown = std::min(report.line_differences.size(), kMostLines);
  for (std::size_t i = 0; i < shown; ++i) {
    const LineDifference& line = report.line_differences[i];
    html += fmt::format("<div class=\"card finding\"><p><b>Line {}</b>{}", line.line,
                        line.equal_scores ? " (with an equal score, no fault)" : "");
    if (line.token > 0)
      html += fmt::format(": token {} is {} where {} was recorded", line.token,
                          code(line.found_token), code(line.recorded_token));
    html += "</p><dl class=\"texts\">" + term("source", escape(line.source)) +
            term("found", escape(line.found)) + term("recorded", escape(line.recorded)) +
            "</dl></div>\n";
  }
  if (report.line_differences.size() > shown)
    html += fmt::format("<p class=\"faint\">{} more lines differ.</p>\n",
                        report.line_differences.size() - shown);
  return html;
}

std::string spread_row(std::string_view name, const TimeSpread& times) {
  return fmt::format(
      "<tr><td>{}</td><td class=\"number\">{:.2f}</td><td class=\"number\">{:.2f}</td>"
      "<td class=\"number\">{:.2f}</td></tr>\n",
      name, times.p50, times.p90, times.p99);
}

std::string time_histogram(std::string_view title, const TimeSpread& spread,
                           const std::vector<double>& times) {
  plot::Plot plot;
  plot.title = title;
  plot.x_title = "milliseconds";
  plot.y_title = "runs";
  plot.guides = {{spread.p50, "P50"}, {spread.p90, "P90"}, {spread.p99, "P99"}};
  return "<div class=\"card\">" + plot::histogram(plot, times) + "</div>\n";
}

/// Wall time over the runs, up to the ninety-ninth percentile's double so that a few far ones do
/// not flatten it.
std::string drift_plot(const Latency& latency) {
  plot::Series series{"wall", {}, true};
  for (std::size_t run = 0; run < latency.wall_ms.size(); ++run)
    series.points.push_back(
        {static_cast<double>(run + 1), std::min(latency.wall_ms[run], latency.wall.p99 * 2), ""});
  plot::Plot plot;
  plot.title = "Wall time over the runs";
  plot.x_title = "run";
  plot.y_title = "milliseconds";
  return "<div class=\"card\">" + plot::scatter(plot, std::span(&series, 1)) + "</div>\n";
}

std::string latency_section(const Report& report) {
  if (!report.latency) return "";
  const Latency& latency = *report.latency;
  return fmt::format(
             "<h2>Latency</h2>\n<div class=\"plots\"><div class=\"card\">"
             "<p>{} runs, {} {}: <i>{}</i></p>\n<table class=\"spread\"><thead><tr>"
             "<th>milliseconds</th><th class=\"number\">P50</th><th class=\"number\">P90"
             "</th><th class=\"number\">P99</th></tr></thead><tbody>\n",
             latency.runs, latency.threads, latency.threads == 1 ? "thread" : "threads",
             escape(latency.text)) +
         spread_row("wall time", latency.wall) + spread_row("processor time", latency.process_cpu) +
         spread_row("calling thread", latency.thread_cpu) + "</tbody></table>\n<dl>\n" +
         term("Processor per wall time", fmt::format("{:.2f}", latency.cpu_per_wall)) +
         term("Drift",
              fmt::format("{:+.1f} %, last quarter against the first", latency.drift * 100)) +
         term("Throttling",
              fmt::format("{} <span class=\"faint\">({})</span>",
                          throttling_word(latency.throttled), escape(latency.conditions))) +
         "</dl></div>\n" + time_histogram("Wall time of a run", latency.wall, latency.wall_ms) +
         time_histogram("Processor time of a run", latency.process_cpu, latency.cpu_ms) +
         drift_plot(latency) + "</div>\n";
}

}  // namespace

std::string format_html(const Report& report, std::string_view subject) {
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>{}: {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
             heading_of(report.verdict()), escape(subject), kHtmlStyle) +
         verdict_card(report, subject) + findings(report) + differences(report) +
         check_table(report) + line_differences(report) + latency_section(report) +
         fmt::format(
             "<footer>sampan {}. What each check holds is told in docs/verify.md.</footer>\n"
             "</main>\n</body>\n</html>\n",
             version());
}

}  // namespace sampan::verify
