#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What this process may use of the machine. Linux; everything is read anew at each call.
namespace sampan::base {

/// Threads worth running at once: physical cores among the processors that the affinity mask allows
/// (two hardware threads of one core share its arithmetic units), at most the cgroup's quota
/// rounded down (a thread above the quota is stopped in the middle of an operator, and the others
/// wait for it). 1 or more; never throws.
int usable_threads();

/// Names of the instruction sets that matter for matrix products, as the kernel spells them, in a
/// fixed order with spaces between: "avx2 fma avx512f avx512_vnni". Empty if none is known.
std::string processor_features();

/// The functions above, on a file tree under `root` instead of "/".
int usable_threads(const std::filesystem::path& root, std::span<const int> allowed_processors);
std::string processor_features(const std::filesystem::path& root);

/// Processors' worth of time that the cgroup (version 1 or 2, the tightest of its ancestors) grants
/// this process: 1.5. Nothing: no limit, or none that can be read.
std::optional<double> cgroup_processor_quota(const std::filesystem::path& root);

/// Counters that rise, and a speed that falls, when something keeps the processors from working for
/// this process at full speed. Nothing where the system does not tell.
///
/// Periods in which the cgroup's quota stopped this process (version 1 or 2, the most among its
/// ancestors).
std::optional<std::int64_t> cgroup_throttled_periods(const std::filesystem::path& root);
/// Times that the hottest of the cores slowed down for its temperature.
std::optional<std::int64_t> heat_throttled_times(const std::filesystem::path& root,
                                                 std::span<const int> processors);
/// The present clock of the slowest processor, in MHz; virtual machines often tell a constant.
std::optional<double> slowest_megahertz(const std::filesystem::path& root);
/// Time that a virtual machine's host took away from all processors together, in clock ticks.
std::optional<std::int64_t> stolen_ticks(const std::filesystem::path& root);

/// Cores behind `processors`; hardware threads of one core count once.
int physical_cores(const std::filesystem::path& root, std::span<const int> processors);

/// The kernel's list format: "0-2,5" is {0, 1, 2, 5}. Nothing: the text is not such a list.
std::optional<std::vector<int>> parse_processor_list(std::string_view text);

/// The processors that the affinity mask of this thread allows; empty if it cannot be read.
std::vector<int> allowed_processors();

}  // namespace sampan::base
