#include "cli/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/figures.h"
#include "cli/table.h"
#include "evaluate/statistics.h"
#include "plot/svg.h"
#include "sampan/version.h"

namespace sampan::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::string kNone = "–";

const PackageEvaluation* baseline_of(const EvaluationReport& report) {
  const bool any = std::ranges::any_of(
      report.packages, [](const auto& package) { return package.differences.has_value(); });
  return any ? &report.packages.front() : nullptr;
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::size_t equal_lines(const EvaluationReport& report, const PackageEvaluation& package) {
  return report.lines - package.differences->size();
}

std::string per_cent(double part) { return fmt::format("{:.1f} %", 100.0 * part); }

/// Of the lines that differ, where they do: positions from 1.
std::string first_difference(const PackageEvaluation& package) {
  if (package.differences->empty()) return kNone;
  std::vector<double> tokens;
  for (const auto& difference : *package.differences)
    tokens.push_back(static_cast<double>(difference.token + 1));
  const evaluate::Spread spread = evaluate::spread_of(std::move(tokens));
  return fmt::format("{:g} ({:g}–{:g})", spread.median, spread.least, spread.most);
}

double percentile_ms(const PackageEvaluation& package, double percent) {
  return 1000.0 * evaluate::percentile(package.latencies, percent);
}

std::string latency(const PackageEvaluation& package) {
  if (package.latencies.empty()) return kNone;
  return fmt::format("{:.1f} / {:.1f} / {:.1f} ms", percentile_ms(package, 50),
                     percentile_ms(package, 90), percentile_ms(package, 99));
}

class Rows {
 public:
  explicit Rows(const EvaluationReport& report) : report_(report) {
    table_.header.push_back("");
    for (const PackageEvaluation& package : report.packages) table_.header.push_back(package.name);
  }

  template <typename Cell>
  void add(std::string name, Cell cell) {
    std::vector<std::string> row = {std::move(name)};
    for (const PackageEvaluation& package : report_.packages) row.push_back(cell(package));
    table_.rows.push_back(std::move(row));
  }

  Table table() && { return std::move(table_); }

 private:
  const EvaluationReport& report_;
  Table table_;
};

void add_quality(const EvaluationReport& report, Rows& rows) {
  using Package = const PackageEvaluation&;
  rows.add("BLEU", [](Package p) { return fmt::format("{:.2f}", p.quality.bleu.score); });
  rows.add("chrF2", [](Package p) { return fmt::format("{:.2f}", p.quality.chrf2); });
  if (const PackageEvaluation* base = baseline_of(report)) {
    const auto if_compared = [](Package p, auto cell) { return p.differences ? cell() : kNone; };
    rows.add("BLEU against the baseline", [&](Package p) {
      return if_compared(p, [&] {
        return fmt::format("{:+.2f}", p.quality.bleu.score - base->quality.bleu.score);
      });
    });
    rows.add("lines with the baseline's tokens", [&](Package p) {
      return if_compared(p, [&] {
        const std::size_t equal = equal_lines(report, p);
        return fmt::format("{} ({})", per_cent(share(equal, report.lines)), equal);
      });
    });
    rows.add("first token that differs: median (range)",
             [&](Package p) { return if_compared(p, [&] { return first_difference(p); }); });
  }
  rows.add("length / reference's",
           [](Package p) { return fmt::format("{:.3f}", p.quality.length_ratio); });
  rows.add("repeating lines", [&](Package p) {
    return fmt::format("{} ({})", per_cent(share(p.quality.repeating, report.lines)),
                       p.quality.repeating);
  });
  rows.add("truncated lines", [](Package p) { return std::to_string(p.quality.truncated); });
}

void add_cost(Rows& rows) {
  using Package = const PackageEvaluation&;
  rows.add("tokens/s", [](Package p) { return fmt::format("{:.0f}", tokens_per_second(p.pass)); });
  rows.add("latency P50 / P90 / P99", latency);
  rows.add("peak memory", [](Package p) { return megabytes(p.pass.peak_bytes); });
  rows.add("  growth over the idle program",
           [](Package p) { return megabytes(growth_bytes(p.load, p.pass)); });
  rows.add("load time", [](Package p) { return fmt::format("{:.2f} s", p.load.seconds); });
  rows.add("package", [](Package p) { return megabytes(p.size.folder_bytes); });
  rows.add("  graphs and weights", [](Package p) { return megabytes(p.size.model_bytes); });
}

Table table_of(const EvaluationReport& report) {
  Rows rows(report);
  add_quality(report, rows);
  add_cost(rows);
  return std::move(rows).table();
}

std::vector<std::string> notes(const EvaluationReport& report) {
  std::vector<std::string> lines = {"BLEU " + evaluate::bleu_signature(report.tokenizer),
                                    "chrF2 " + evaluate::chrf_signature()};
  for (const PackageEvaluation& package : report.packages) {
    if (!package.differences || package.differences->empty()) continue;
    const evaluate::Difference& first = package.differences->front();
    lines.push_back(fmt::format("{} first leaves the baseline at line {}, token {}", package.name,
                                first.line + 1, first.token + 1));
  }
  return lines;
}

Json quality_json(const EvaluationReport& report, const evaluate::Quality& quality) {
  return {{"bleu", quality.bleu.score},
          {"bleu_precisions", quality.bleu.precisions},
          {"bleu_brevity_penalty", quality.bleu.brevity_penalty},
          {"chrf2", quality.chrf2},
          {"length_ratio", quality.length_ratio},
          {"repeating_lines", quality.repeating},
          {"repeating_share", share(quality.repeating, report.lines)},
          {"truncated_lines", quality.truncated}};
}

Json cost_json(const PackageEvaluation& package) {
  return {{"tokens", package.pass.tokens},
          {"seconds", package.pass.seconds},
          {"tokens_per_second", tokens_per_second(package.pass)},
          {"latency_lines", package.latencies.size()},
          {"latency_ms",
           {{"p50", percentile_ms(package, 50)},
            {"p90", percentile_ms(package, 90)},
            {"p99", percentile_ms(package, 99)}}},
          {"peak_bytes", package.pass.peak_bytes},
          {"idle_bytes", package.load.idle_bytes},
          {"load_seconds", package.load.seconds},
          {"folder_bytes", package.size.folder_bytes},
          {"model_bytes", package.size.model_bytes}};
}

Json comparison_json(const EvaluationReport& report, const PackageEvaluation& package) {
  const PackageEvaluation& base = *baseline_of(report);
  Json differing = Json::array();
  for (const evaluate::Difference& difference : *package.differences)
    differing.push_back({{"line", difference.line + 1}, {"token", difference.token + 1}});
  return {{"baseline", base.folder.string()},
          {"bleu_difference", package.quality.bleu.score - base.quality.bleu.score},
          {"chrf2_difference", package.quality.chrf2 - base.quality.chrf2},
          {"equal_lines", equal_lines(report, package)},
          {"equal_share", share(equal_lines(report, package), report.lines)},
          {"differences", differing}};
}

template <typename Place>
std::string quality_plot(const EvaluationReport& report, std::string title, std::string x_title,
                         Place place) {
  plot::Plot plot;
  plot.title = std::move(title);
  plot.x_title = std::move(x_title);
  plot.y_title = "BLEU";
  plot::Series series;
  for (const PackageEvaluation& package : report.packages)
    series.points.push_back({place(package), package.quality.bleu.score, package.name});
  return plot::scatter(plot, {&series, 1});
}

}  // namespace

std::string plain_report(const EvaluationReport& report) {
  std::string text =
      report.machine + "\n" + report.settings + "\n\n" + plain_table(table_of(report)) + "\n";
  for (const std::string& note : notes(report)) text += note + "\n";
  return text;
}

std::string markdown_report(const EvaluationReport& report) {
  std::string text =
      report.machine + "; " + report.settings + "\n\n" + markdown_table(table_of(report)) + "\n";
  for (const std::string& note : notes(report)) text += "- " + note + "\n";
  return text;
}

std::string json_report(const EvaluationReport& report) {
  Json packages = Json::array();
  for (const PackageEvaluation& package : report.packages) {
    Json object = {{"name", package.name},
                   {"folder", package.folder.string()},
                   {"num_beams", package.load.num_beams},
                   {"batch_size", package.load.batch_size},
                   {"quality", quality_json(report, package.quality)},
                   {"cost", cost_json(package)}};
    if (package.differences) object["against_baseline"] = comparison_json(report, package);
    packages.push_back(std::move(object));
  }
  const Json object = {{"sampan", version()},
                       {"machine", report.machine},
                       {"settings", report.settings},
                       {"lines", report.lines},
                       {"bleu_signature", evaluate::bleu_signature(report.tokenizer)},
                       {"chrf2_signature", evaluate::chrf_signature()},
                       {"packages", packages}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string svg_report(const EvaluationReport& report) {
  const double width = plot::Plot().width;
  const double height = plot::Plot().height;
  const std::string left = quality_plot(
      report, "Quality against size", "package, MB", [](const PackageEvaluation& package) {
        return static_cast<double>(package.size.folder_bytes) / 1e6;
      });
  const std::string right = quality_plot(
      report, "Quality against speed", "tokens/s",
      [](const PackageEvaluation& package) { return std::round(tokens_per_second(package.pass)); });
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n{2}<g transform=\"translate({3:.0f} 0)\">\n{4}</g>\n</svg>\n",
      2 * width, height, left, width, right);
}

}  // namespace sampan::cli
