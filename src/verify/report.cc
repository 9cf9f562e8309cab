#include "verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sampan/version.h"

namespace sampan::verify {
namespace {

constexpr int kReportFormat = 1;
constexpr std::size_t kDifferencesInText = 5;

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "ok";
    case Outcome::kFailed:
      return "FAILED";
    case Outcome::kNotChecked:
      return "not checked";
  }
  return "";
}

// A number that is not one has no place in JSON.
nlohmann::json json_number(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(fmt::format("{}", *value));
}

/// Texts from files as one line of a terminal.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

std::string describe(const Latency& latency) {
  const auto row = [](std::string_view name, const TimeSpread& times) {
    return fmt::format("  {:<14} {:>9.3f} {:>9.3f} {:>9.3f}\n", name, times.p50, times.p90,
                       times.p99);
  };
  return fmt::format("latency of {} runs, {} threads, in ms: {}\n  {:<14} {:>9} {:>9} {:>9}\n",
                     latency.runs, latency.threads, one_line(latency.text), "", "P50", "P90",
                     "P99") +
         row("wall", latency.wall) + row("processor", latency.process_cpu) +
         row("calling thread", latency.thread_cpu) +
         fmt::format(
             "  processor per wall time {:.2f}, calling thread per wall time {:.2f}\n"
             "  drift {:+.1f} % (last quarter against the first)\n"
             "  throttling: {} ({})\n",
             latency.cpu_per_wall, latency.thread_cpu_per_wall, latency.drift * 100,
             throttling_word(latency.throttled), latency.conditions);
}

nlohmann::ordered_json json_of(const TimeSpread& times) {
  return {{"p50", times.p50}, {"p90", times.p90}, {"p99", times.p99}};
}

/// Times to a tenth of a microsecond: more digits are noise.
std::vector<double> rounded(const std::vector<double>& times) {
  std::vector<double> result;
  for (const double time : times) result.push_back(std::round(time * 1e4) / 1e4);
  return result;
}

nlohmann::ordered_json json_of(const Latency& latency) {
  nlohmann::ordered_json json = {{"text", latency.text},
                                 {"runs", latency.runs},
                                 {"threads", latency.threads},
                                 {"wall", json_of(latency.wall)},
                                 {"process_cpu", json_of(latency.process_cpu)},
                                 {"thread_cpu", json_of(latency.thread_cpu)},
                                 {"cpu_per_wall", latency.cpu_per_wall},
                                 {"thread_cpu_per_wall", latency.thread_cpu_per_wall},
                                 {"drift", latency.drift}};
  json["throttled"] = latency.throttled ? nlohmann::ordered_json(*latency.throttled) : nullptr;
  json["conditions"] = latency.conditions;
  json["wall_ms"] = rounded(latency.wall_ms);
  json["cpu_ms"] = rounded(latency.cpu_ms);
  return json;
}

std::string describe(const LineDifference& difference) {
  std::string text = fmt::format("line {}{}", difference.line,
                                 difference.equal_scores ? ", with an equal score" : "");
  if (difference.token > 0)
    text += fmt::format(", differs at its token {}: {} for {}", difference.token,
                        difference.found_token, difference.recorded_token);
  return text + fmt::format("\n    source    {}\n    found     {}\n    recorded  {}\n",
                            one_line(difference.source), one_line(difference.found),
                            one_line(difference.recorded));
}

nlohmann::ordered_json json_of(const LineDifference& difference) {
  return {{"line", difference.line},
          {"token", difference.token},
          {"found_token", difference.found_token},
          {"recorded_token", difference.recorded_token},
          {"equal_scores", difference.equal_scores},
          {"source", difference.source},
          {"found", difference.found},
          {"recorded", difference.recorded}};
}

}  // namespace

Outcome Report::verdict() const {
  const auto has = [this](Outcome outcome) {
    return std::ranges::find(checks, outcome, &Check::outcome) != checks.end();
  };
  if (has(Outcome::kFailed)) return Outcome::kFailed;
  return has(Outcome::kNotChecked) || checks.empty() ? Outcome::kNotChecked : Outcome::kPassed;
}

Check limited(std::string name, double figure, double limit, std::string detail) {
  // Written so that NaN fails.
  const Outcome outcome = figure <= limit ? Outcome::kPassed : Outcome::kFailed;
  return {std::move(name), outcome, figure, limit, std::move(detail)};
}

Check failed(std::string name, std::string detail) {
  return {std::move(name), Outcome::kFailed, {}, {}, std::move(detail)};
}

Check passed(std::string name, std::string detail) {
  return {std::move(name), Outcome::kPassed, {}, {}, std::move(detail)};
}

Check not_checked(std::string name, std::string detail) {
  return {std::move(name), Outcome::kNotChecked, {}, {}, std::move(detail)};
}

std::string_view verdict_name(Outcome verdict) noexcept {
  switch (verdict) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "problems";
    case Outcome::kNotChecked:
      return "not_checked";
  }
  return "";
}

std::string verdict_sentence(const Report& report) {
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(report.checks, outcome, &Check::outcome);
  };
  switch (report.verdict()) {
    case Outcome::kPassed:
      return fmt::format("passed: {} checks", report.checks.size());
    case Outcome::kFailed:
      return fmt::format("problems: {} of {} checks failed", count(Outcome::kFailed),
                         report.checks.size());
    case Outcome::kNotChecked:
      return fmt::format("not checked: {} of {} checks could not be made, the others passed",
                         count(Outcome::kNotChecked), report.checks.size());
  }
  return "";
}

std::string_view throttling_word(const std::optional<bool>& throttled) noexcept {
  return !throttled ? "cannot be known" : *throttled ? "yes" : "none seen";
}

std::string format_text(const Report& report) {
  std::string text;
  for (const Check& check : report.checks) {
    text += fmt::format("{:<12} {:<30}", word_of(check.outcome), check.name);
    text += check.figure ? fmt::format(" {:>9.3g} <= {:<8.3g}", *check.figure, check.limit.value())
                         : std::string(22, ' ');
    text += fmt::format(" {}\n", check.detail);
  }
  for (const Place& place : report.places)
    text +=
        fmt::format("wrong        {}: {}, {} (node '{}'): {:.3g} > {:.3g}, {}\n", place.graph,
                    place.name, place.part, place.node, place.figure, place.limit, place.detail);
  for (std::size_t i = 0; i < report.line_differences.size(); ++i) {
    if (i == kDifferencesInText) {
      text += fmt::format("{} more lines differ; --json and --html list them\n",
                          report.line_differences.size() - i);
      break;
    }
    text += describe(report.line_differences[i]);
  }
  if (report.latency) text += describe(*report.latency);
  return text + fmt::format("{}, {} lines, {:.1f} s", verdict_sentence(report), report.lines,
                            report.seconds);
}

std::string format_json(const Report& report) {
  nlohmann::ordered_json json;
  json["format"] = kReportFormat;
  json["verdict"] = verdict_name(report.verdict());
  json["manifest_sha256"] = report.manifest_sha256;
  json["producer_version"] = version();
  json["lines"] = report.lines;
  json["seconds"] = report.seconds;
  json["checks"] = nlohmann::ordered_json::array();
  for (const Check& check : report.checks)
    json["checks"].push_back({{"name", check.name},
                              {"outcome", verdict_name(check.outcome)},
                              {"figure", json_number(check.figure)},
                              {"limit", json_number(check.limit)},
                              {"detail", check.detail}});
  json["places"] = nlohmann::ordered_json::array();
  for (const Place& place : report.places)
    json["places"].push_back({{"graph", place.graph},
                              {"name", place.name},
                              {"part", place.part},
                              {"node", place.node},
                              {"figure", json_number(place.figure)},
                              {"limit", json_number(place.limit)},
                              {"detail", place.detail}});
  json["inner_values"] = nlohmann::ordered_json::array();
  for (const InnerValue& value : report.inner_values)
    json["inner_values"].push_back({{"graph", value.graph},
                                    {"name", value.name},
                                    {"difference", json_number(value.difference)},
                                    {"relative_error", json_number(value.relative_error)}});
  json["line_differences"] = nlohmann::ordered_json::array();
  for (const LineDifference& difference : report.line_differences)
    json["line_differences"].push_back(json_of(difference));
  json["latency"] = report.latency ? json_of(*report.latency) : nullptr;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sampan::verify
