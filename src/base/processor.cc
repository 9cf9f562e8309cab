#include "base/processor.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

namespace sampan::base {
namespace {

namespace fs = std::filesystem;

/// More processors than any kernel is built for; a guard against absurd lists.
constexpr int kMaxProcessors = 1 << 16;
/// Files under /proc and /sys are short; /proc/cpuinfo of a large machine is the longest.
constexpr std::size_t kMaxFileSize = std::size_t{16} << 20;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content;
  std::array<char, 4096> block;
  while (file && content.size() < kMaxFileSize) {
    file.read(block.data(), block.size());
    content.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  return content;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// quota / period in microseconds; a quota of -1 or "max" means no limit.
std::optional<double> quota_of(std::string_view quota, std::string_view period) {
  const auto used = parse_number<long long>(trimmed(quota));
  const auto whole = parse_number<long long>(trimmed(period));
  if (!used || !whole || *used <= 0 || *whole <= 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*whole);
}

std::optional<double> quota_v2(const fs::path& folder) {
  const std::string content = read_file(folder / "cpu.max");
  const std::string_view text = trimmed(content);
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return quota_of(text.substr(0, space), text.substr(space + 1));
}

std::optional<double> quota_v1(const fs::path& folder) {
  return quota_of(read_file(folder / "cpu.cfs_quota_us"), read_file(folder / "cpu.cfs_period_us"));
}

bool contains_field(std::string_view list, std::string_view wanted) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

/// Calls `action` with `mount`/`group` and all folders between. Inside a container the group's path
/// may be the host's: folders that are not there are passed over up to the mount itself.
template <typename Action>
void for_each_ancestor(const fs::path& mount, std::string_view group, Action action) {
  fs::path folder = mount;
  action(folder);
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == "..") return;
    folder /= part;
    action(folder);
  }
}

enum class CgroupVersion { kOne, kTwo };

/// Calls `action` with every folder whose cpu controller governs this process. A line of
/// /proc/self/cgroup is "ID:CONTROLLERS:PATH"; version 2 has no controllers.
template <typename Action>
void for_each_cpu_group(const fs::path& root, Action action) {
  const fs::path base = root / "sys/fs/cgroup";
  std::istringstream lines(read_file(root / "proc/self/cgroup"));
  for (std::string text; std::getline(lines, text);) {
    const std::string_view line = text;
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      for_each_ancestor(base, group,
                        [&](const fs::path& folder) { action(folder, CgroupVersion::kTwo); });
    } else if (contains_field(controllers, "cpu")) {
      fs::path mount = base / controllers;
      std::error_code ignored;
      if (!fs::exists(mount, ignored)) mount = base / "cpu";
      for_each_ancestor(mount, group,
                        [&](const fs::path& folder) { action(folder, CgroupVersion::kOne); });
    }
  }
}

/// The number behind "NAME " on a line of its own.
std::optional<std::int64_t> find_counter(const std::string& content, std::string_view name) {
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
      return parse_number<std::int64_t>(trimmed(std::string_view(line).substr(name.size())));
  return std::nullopt;
}

/// Of "cpu MHz : 2596.144" in /proc/cpuinfo.
std::optional<double> parse_megahertz(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (!line.starts_with("cpu MHz") || colon == line.npos) return std::nullopt;
  return parse_number<double>(trimmed(line.substr(colon + 1)));
}

/// The lowest processor that shares a core with `processor`: it stands for the core.
int core_of(const fs::path& root, int processor) {
  const fs::path topology =
      root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) / "topology";
  for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {
    const auto siblings = parse_processor_list(read_file(topology / name));
    if (siblings && !siblings->empty())
      return *std::min_element(siblings->begin(), siblings->end());
  }
  return processor;
}

}  // namespace

std::optional<std::vector<int>> parse_processor_list(std::string_view text) {
  text = trimmed(text);
  std::vector<int> processors;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view range = text.substr(begin, end - begin);
    const std::size_t dash = range.find('-');
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxProcessors)
      return std::nullopt;
    for (int processor = *first; processor <= *last; ++processor) processors.push_back(processor);
    begin = end + 1;
  }
  return processors;
}

std::optional<double> cgroup_processor_quota(const fs::path& root) {
  std::optional<double> tightest;
  for_each_cpu_group(root, [&](const fs::path& folder, CgroupVersion version) {
    const auto quota = version == CgroupVersion::kTwo ? quota_v2(folder) : quota_v1(folder);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  });
  return tightest;
}

std::optional<std::int64_t> cgroup_throttled_periods(const fs::path& root) {
  std::optional<std::int64_t> most;
  for_each_cpu_group(root, [&](const fs::path& folder, CgroupVersion) {
    const auto periods = find_counter(read_file(folder / "cpu.stat"), "nr_throttled");
    if (periods && (!most || *periods > *most)) most = periods;
  });
  return most;
}

std::optional<std::int64_t> heat_throttled_times(const fs::path& root,
                                                 std::span<const int> processors) {
  std::optional<std::int64_t> times;
  for (const int processor : processors) {
    const fs::path file = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) /
                          "thermal_throttle/core_throttle_count";
    if (const auto count = parse_number<std::int64_t>(trimmed(read_file(file))))
      times = std::max(times.value_or(0), *count);
  }
  return times;
}

std::optional<double> slowest_megahertz(const fs::path& root) {
  std::optional<double> slowest;
  std::istringstream lines(read_file(root / "proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);)
    if (const auto speed = parse_megahertz(line); speed && (!slowest || *speed < *slowest))
      slowest = speed;
  return slowest;
}

std::optional<std::int64_t> stolen_ticks(const fs::path& root) {
  std::istringstream words(read_file(root / "proc/stat"));
  std::string name;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  words >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
  if (!words || name != "cpu") return std::nullopt;
  return steal;
}

int physical_cores(const fs::path& root, std::span<const int> processors) {
  std::set<int> cores;
  for (const int processor : processors) cores.insert(core_of(root, processor));
  return static_cast<int>(cores.size());
}

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  for (int capacity = 1024; capacity <= kMaxProcessors; capacity *= 4) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (mask == nullptr) return processors;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    CPU_ZERO_S(size, mask);
    const bool read = sched_getaffinity(0, size, mask) == 0;
    const bool too_small = !read && errno == EINVAL;
    if (read) {
      for (int processor = 0; processor < capacity; ++processor)
        if (CPU_ISSET_S(static_cast<std::size_t>(processor), size, mask))
          processors.push_back(processor);
    }
    CPU_FREE(mask);
    if (!too_small) break;
  }
  return processors;
}

int usable_threads(const fs::path& root, std::span<const int> allowed) {
  int threads = physical_cores(root, allowed);
  if (allowed.empty()) threads = static_cast<int>(std::thread::hardware_concurrency());
  if (const std::optional<double> quota = cgroup_processor_quota(root))
    threads = std::min(threads, static_cast<int>(std::min(std::floor(*quota), 1e6)));
  return std::max(threads, 1);
}

int usable_threads() { return usable_threads("/", allowed_processors()); }

std::string processor_features(const fs::path& root) {
  constexpr std::array<std::string_view, 19> kKnown = {
      "avx",         "avx2",        "f16c",        "fma",      "avx_vnni", "avx512f", "avx512bw",
      "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8", "amx_bf16", "asimd",   "asimdhp",
      "asimddp",     "i8mm",        "bf16",        "sve",      "sve2"};
  std::istringstream lines(read_file(root / "proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::istringstream words(line.substr(colon + 1));
    const std::set<std::string, std::less<>> present{std::istream_iterator<std::string>(words), {}};
    std::string features;
    for (const std::string_view name : kKnown)
      if (present.contains(name)) features.append(features.empty() ? "" : " ").append(name);
    return features;
  }
  return {};
}

std::string processor_features() { return processor_features("/"); }

}  // namespace sampan::base
