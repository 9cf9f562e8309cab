#include "verify/latency.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/processor.h"

namespace sampan::verify {
namespace {

constexpr std::size_t kWarmUps = 10;
constexpr std::size_t kSamples = 20;

double milliseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// All clocks at one moment.
struct Moment {
  std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
  double process = milliseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  double thread = milliseconds_of(CLOCK_THREAD_CPUTIME_ID);
};

double sum(std::span<const double> times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

double middle_of(std::span<const double> times) { return spread_of(times).p50; }

std::string counted(const std::optional<std::int64_t>& before,
                    const std::optional<std::int64_t>& after, std::string_view what,
                    std::optional<bool>& throttled) {
  if (!before || !after) return fmt::format("{}: not told here", what);
  throttled = throttled.value_or(false) || *after > *before;
  return fmt::format("{}: {}", what, *after - *before);
}

}  // namespace

TimeSpread spread_of(std::span<const double> times) {
  std::vector<double> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const auto rank = [&](double share) {
    if (sorted.empty()) return 0.0;
    const double place = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(1.0, place)) - 1];
  };
  return {rank(0.5), rank(0.9), rank(0.99)};
}

double drift_of(std::span<const double> times) {
  const std::size_t quarter = times.size() / 4;
  if (quarter < 2) return 0;
  const double first = middle_of(times.first(quarter));
  return first > 0 ? middle_of(times.last(quarter)) / first - 1 : 0;
}

DisturbanceWatch::DisturbanceWatch(std::filesystem::path root)
    : root_(std::move(root)),
      periods_(base::cgroup_throttled_periods(root_)),
      heat_(base::heat_throttled_times(root_, base::allowed_processors())),
      stolen_(base::stolen_ticks(root_)) {
  sample();
}

void DisturbanceWatch::sample() {
  const auto clock = base::slowest_megahertz(root_);
  if (!clock) return;
  slowest_ = std::min(*clock, slowest_.value_or(*clock));
  fastest_ = std::max(*clock, fastest_.value_or(*clock));
}

std::optional<bool> DisturbanceWatch::throttled(std::string& note) const {
  std::optional<bool> result;
  note = counted(periods_, base::cgroup_throttled_periods(root_), "periods stopped by a quota",
                 result);
  note += "; " + counted(heat_, base::heat_throttled_times(root_, base::allowed_processors()),
                         "times slowed by heat", result);
  note += slowest_ ? fmt::format("; clock of the slowest processor: {:.0f} to {:.0f} MHz",
                                 *slowest_, *fastest_)
                   : std::string("; clock: not told here");
  // What a host takes away is somebody else's work rather than throttling, and slows all the same.
  std::optional<bool> stolen;
  note += "; " + counted(stolen_, base::stolen_ticks(root_), "ticks taken by the host", stolen);
  return result;
}

Latency measure_latency(const LatencyInput& input) {
  if (input.runs == 0 || input.text.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "latency is measured over 1 run or more of a text that is not empty");
  Latency latency;
  latency.text = input.text;
  latency.runs = input.runs;
  latency.threads = input.threads;
  TranslateOptions options = input.translator.default_options();
  options.target_language = input.target_language;
  options.stop = input.stop;
  const std::vector<std::string> texts = {input.text};
  for (std::size_t i = 0; i < std::min(kWarmUps, input.runs); ++i)
    input.translator.translate(texts, options);
  DisturbanceWatch watch;
  std::vector<double> thread_ms;
  const std::size_t pause = std::max<std::size_t>(1, input.runs / kSamples);
  for (std::size_t run = 0; run < input.runs; ++run) {
    const Moment begin;
    input.translator.translate(texts, options);
    const Moment end;
    latency.wall_ms.push_back(
        std::chrono::duration<double, std::milli>(end.wall - begin.wall).count());
    latency.cpu_ms.push_back(end.process - begin.process);
    thread_ms.push_back(end.thread - begin.thread);
    if ((run + 1) % pause != 0) continue;
    watch.sample();
    if (input.progress) input.progress(fmt::format("latency: {} of {} runs", run + 1, input.runs));
  }
  latency.wall = spread_of(latency.wall_ms);
  latency.process_cpu = spread_of(latency.cpu_ms);
  latency.thread_cpu = spread_of(thread_ms);
  const double wall = sum(latency.wall_ms);
  latency.cpu_per_wall = wall > 0 ? sum(latency.cpu_ms) / wall : 0;
  latency.thread_cpu_per_wall = wall > 0 ? sum(thread_ms) / wall : 0;
  latency.drift = drift_of(latency.wall_ms);
  latency.throttled = watch.throttled(latency.conditions);
  return latency;
}

}  // namespace sampan::verify
