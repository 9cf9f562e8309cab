#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/figures.h"
#include "cli/table.h"
#include "evaluate/statistics.h"
#include "plot/svg.h"
#include "sampan/version.h"

namespace sampan::cli {
namespace {

using evaluate::Spread;
using evaluate::TimeShare;
using Json = nlohmann::ordered_json;
using TableForm = std::string (*)(const Table&);

constexpr std::size_t kMostOperators = 12;

Spread speed_of(const BenchedPackage& package) {
  std::vector<double> speeds;
  for (const PassFigures& round : package.rounds) speeds.push_back(tokens_per_second(round));
  return evaluate::spread_of(std::move(speeds));
}

double median_seconds(const BenchedPackage& package) {
  std::vector<double> seconds;
  for (const PassFigures& round : package.rounds) seconds.push_back(round.seconds);
  return evaluate::spread_of(std::move(seconds)).median;
}

std::string range_of(const Spread& spread) {
  return fmt::format("{:.0f}–{:.0f}", spread.least, spread.most);
}

Table speed_table(const BenchReport& report) {
  Table table;
  table.header = {"",          "tokens/s", "range", "against the first",
                  "ms a line", "tokens",   "load",  "peak memory",
                  "growth",    "package"};
  const double first = speed_of(report.packages.front()).median;
  for (const BenchedPackage& package : report.packages) {
    const Spread speed = speed_of(package);
    const PassFigures& last = package.rounds.back();
    table.rows.push_back({package.name, fmt::format("{:.0f}", speed.median), range_of(speed),
                          first > 0 ? fmt::format("{:.2f}", speed.median / first) : "–",
                          fmt::format("{:.2f}", 1000.0 * median_seconds(package) /
                                                    static_cast<double>(report.lines)),
                          std::to_string(last.tokens),
                          fmt::format("{:.2f} s", package.load.seconds), megabytes(last.peak_bytes),
                          megabytes(growth_bytes(package.load, last)),
                          megabytes(package.size.folder_bytes)});
  }
  return table;
}

template <typename Key>
std::vector<std::pair<Key, TimeShare>> longest_first(const std::map<Key, TimeShare>& shares) {
  std::vector<std::pair<Key, TimeShare>> sorted(shares.begin(), shares.end());
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  return sorted;
}

double node_seconds(const ProfileFigures& profile) {
  double seconds = 0.0;
  for (const auto& [name, share] : profile.runtime.operators) seconds += share.seconds;
  return seconds;
}

Table profile_table(const ProfileFigures& profile) {
  Table table;
  table.header = {"", "ms", "share", "calls"};
  const auto add = [&](std::string name, double seconds, std::string calls) {
    table.rows.push_back({std::move(name), fmt::format("{:.1f}", 1000.0 * seconds),
                          fmt::format("{:.1f} %", 100.0 * seconds / profile.seconds),
                          std::move(calls)});
  };
  const auto operators = longest_first(profile.runtime.operators);
  TimeShare rest;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto& [name, share] = operators[i];
    if (i < kMostOperators) {
      add(name, share.seconds, std::to_string(share.calls));
    } else {
      rest.seconds += share.seconds;
      rest.calls += share.calls;
    }
  }
  if (rest.calls > 0) add("other operators", rest.seconds, std::to_string(rest.calls));
  const double inside = node_seconds(profile);
  add("the runtime between operators", std::max(profile.runtime.run_seconds - inside, 0.0), "");
  add("outside the runtime: text, search, copies",
      std::max(profile.seconds - profile.runtime.run_seconds, 0.0), "");
  return table;
}

/// The sentence that names where the time goes.
std::string profile_summary(const BenchedPackage& package) {
  const ProfileFigures& profile = *package.profile;
  const auto operators = longest_first(profile.runtime.operators);
  const auto nodes = longest_first(profile.runtime.nodes);
  if (operators.empty() || nodes.empty()) return package.name + ": no operator ran";
  const auto share = [&](const TimeShare& time) { return 100.0 * time.seconds / profile.seconds; };
  std::string text = fmt::format(
      "{}: {:.1f} % of the time goes into {}; the longest node is {} of {} with {:.1f} %; {} "
      "tokens "
      "in {:.2f} s while profiled",
      package.name, share(operators[0].second), operators[0].first, nodes[0].first.second,
      nodes[0].first.first, share(nodes[0].second), profile.tokens, profile.seconds);
  if (profile.runtime.cut_short)
    text += "; the runtime stopped taking notes before the end: profile fewer lines";
  return text;
}

std::string report_text(const BenchReport& report, TableForm form) {
  std::string text = report.machine + "\n" + report.settings + "\n\n" + form(speed_table(report));
  for (const BenchedPackage& package : report.packages)
    if (package.profile)
      text += "\n" + profile_summary(package) + "\n\n" + form(profile_table(*package.profile));
  return text;
}

Json share_json(const ProfileFigures& profile, const TimeShare& time) {
  return {
      {"seconds", time.seconds}, {"share", time.seconds / profile.seconds}, {"calls", time.calls}};
}

Json profile_json(const ProfileFigures& profile) {
  Json operators = Json::array();
  for (const auto& [name, time] : longest_first(profile.runtime.operators)) {
    Json row = {{"operator", name}};
    row.update(share_json(profile, time));
    operators.push_back(std::move(row));
  }
  Json nodes = Json::array();
  for (const auto& [node, time] : longest_first(profile.runtime.nodes)) {
    Json row = {{"graph", node.first}, {"node", node.second}};
    row.update(share_json(profile, time));
    nodes.push_back(std::move(row));
  }
  return {{"seconds", profile.seconds},
          {"tokens", profile.tokens},
          {"runtime_seconds", profile.runtime.run_seconds},
          {"cut_short", profile.runtime.cut_short},
          {"operators", operators},
          {"nodes", nodes}};
}

}  // namespace

std::string plain_report(const BenchReport& report) { return report_text(report, plain_table); }

std::string markdown_report(const BenchReport& report) {
  return report_text(report, markdown_table);
}

std::string json_report(const BenchReport& report) {
  Json packages = Json::array();
  for (const BenchedPackage& package : report.packages) {
    const Spread speed = speed_of(package);
    const PassFigures& last = package.rounds.back();
    Json seconds = Json::array();
    for (const PassFigures& round : package.rounds) seconds.push_back(round.seconds);
    Json object = {{"name", package.name},
                   {"folder", package.folder.string()},
                   {"num_beams", package.load.num_beams},
                   {"batch_size", package.load.batch_size},
                   {"tokens_per_second", speed.median},
                   {"least_tokens_per_second", speed.least},
                   {"most_tokens_per_second", speed.most},
                   {"tokens", last.tokens},
                   {"round_seconds", seconds},
                   {"load_seconds", package.load.seconds},
                   {"peak_bytes", last.peak_bytes},
                   {"idle_bytes", package.load.idle_bytes},
                   {"folder_bytes", package.size.folder_bytes},
                   {"model_bytes", package.size.model_bytes}};
    if (package.profile) object["profile"] = profile_json(*package.profile);
    packages.push_back(std::move(object));
  }
  const Json object = {{"sampan", version()},
                       {"machine", report.machine},
                       {"settings", report.settings},
                       {"lines", report.lines},
                       {"packages", packages}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string svg_report(const BenchReport& report) {
  plot::Plot plot;
  plot.title = report.settings;
  plot.x_title = "tokens/s";
  plot.width = 640;
  std::vector<plot::Bar> bars;
  for (const BenchedPackage& package : report.packages) {
    const Spread speed = speed_of(package);
    plot::Bar& bar = bars.emplace_back();
    bar.label = package.name;
    bar.value = speed.median;
    bar.note = fmt::format("{:.0f} ({})", speed.median, range_of(speed));
  }
  return plot::bars(plot, bars);
}

}  // namespace sampan::cli
