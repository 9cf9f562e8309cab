#include "base/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace sampan::base {
namespace {

using testing::ElementsAre;
using testing::Optional;

class ProcessorTest : public testing::Test {
 protected:
  /// Tells that the hardware threads of `siblings` share the core of each processor listed.
  void share_core(const std::vector<int>& processors, const std::string& siblings) {
    for (const int processor : processors)
      root_.write("sys/devices/system/cpu/cpu" + std::to_string(processor) +
                      "/topology/thread_siblings_list",
                  siblings + "\n");
  }
  std::optional<double> quota() { return cgroup_processor_quota(root_.path()); }

  test::TemporaryFolder root_;
};

TEST(ProcessorList, reads_the_kernels_ranges) {
  EXPECT_THAT(parse_processor_list("0-2,5\n"), Optional(ElementsAre(0, 1, 2, 5)));
  EXPECT_THAT(parse_processor_list("7"), Optional(ElementsAre(7)));
  EXPECT_THAT(parse_processor_list("\n"), Optional(ElementsAre()));
}

TEST(ProcessorList, refuses_what_is_not_a_list) {
  for (const char* text : {"a", "1-", "-1", "3-1", "0-999999999", "1,,2", "1 2", "99999999999999"})
    EXPECT_EQ(parse_processor_list(text), std::nullopt) << text;
}

TEST_F(ProcessorTest, no_files_mean_no_quota) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(ProcessorTest, version_2_quota_is_the_tightest_of_the_ancestors) {
  root_.write("proc/self/cgroup", "0::/a/b\n");
  root_.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  root_.write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
  root_.write("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(ProcessorTest, version_2_group_of_the_host_falls_back_to_the_mount) {
  root_.write("proc/self/cgroup", "0::/../../docker/0123\n");
  root_.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(ProcessorTest, version_1_quota_is_read_beside_other_controllers) {
  root_.write("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(quota(), 5.0);
  root_.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ProcessorTest, version_1_mount_may_be_named_cpu_alone) {
  root_.write("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  root_.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  root_.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3.0);
}

TEST_F(ProcessorTest, nonsense_quotas_are_no_quota) {
  root_.write("proc/self/cgroup", "0::/\nnonsense\n1:\n");
  for (const char* text : {"", "100000", "0 100000", "100000 0", "x y", "-5 100000", "1e9 7"}) {
    root_.write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
}

TEST_F(ProcessorTest, hardware_threads_of_one_core_count_once) {
  share_core({0, 4}, "0,4");
  share_core({1, 5}, "1,5");
  const std::vector<int> processors = {0, 1, 4, 5, 6};
  EXPECT_EQ(physical_cores(root_.path(), processors), 3) << "6 has no topology: a core of its own";
  const std::vector<int> second_threads = {4, 5};
  EXPECT_EQ(physical_cores(root_.path(), second_threads), 2);
}

TEST_F(ProcessorTest, usable_threads_are_cores_within_the_quota) {
  share_core({0, 1}, "0-1");
  share_core({2, 3}, "2-3");
  const std::vector<int> processors = {0, 1, 2, 3, 8, 9};
  EXPECT_EQ(usable_threads(root_.path(), processors), 4);
  root_.write("proc/self/cgroup", "0::/\n");
  root_.write("sys/fs/cgroup/cpu.max", "290000 100000");
  EXPECT_EQ(usable_threads(root_.path(), processors), 2);
  root_.write("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(usable_threads(root_.path(), processors), 1);
  root_.write("sys/fs/cgroup/cpu.max", "9000000000000000000 1");
  EXPECT_EQ(usable_threads(root_.path(), processors), 4);
}

TEST_F(ProcessorTest, this_process_may_use_a_processor) {
  EXPECT_GE(usable_threads(), 1);
  EXPECT_FALSE(allowed_processors().empty());
  EXPECT_LE(usable_threads(), static_cast<int>(allowed_processors().size()));
  EXPECT_GE(usable_threads(root_.path(), {}), 1) << "no affinity mask could be read";
}

TEST_F(ProcessorTest, features_are_the_kernels_names_in_a_fixed_order) {
  EXPECT_EQ(processor_features(root_.path()), "");
  root_.write("proc/cpuinfo",
              "processor\t: 0\nflags\t\t: fpu avx512_vnni avx2 fma sse\n\nflags\t\t: amx_int8\n");
  EXPECT_EQ(processor_features(root_.path()), "avx2 fma avx512_vnni");
  root_.write("proc/cpuinfo", "processor : 0\nFeatures : fp asimddp asimd\n");
  EXPECT_EQ(processor_features(root_.path()), "asimd asimddp");
}

TEST_F(ProcessorTest, throttled_periods_are_the_most_of_the_ancestors) {
  EXPECT_EQ(cgroup_throttled_periods(root_.path()), std::nullopt);
  root_.write("proc/self/cgroup", "0::/a/b\n");
  root_.write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 12\n");
  EXPECT_EQ(cgroup_throttled_periods(root_.path()), std::nullopt);
  root_.write("sys/fs/cgroup/a/cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_usec 77\n");
  root_.write("sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 3\n");
  EXPECT_EQ(cgroup_throttled_periods(root_.path()), 5);
  root_.write("proc/self/cgroup", "3:cpu,cpuacct:/x\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/x/cpu.stat", "nr_throttled 8\n");
  EXPECT_EQ(cgroup_throttled_periods(root_.path()), 8);
}

TEST_F(ProcessorTest, heat_and_clock_are_those_of_the_worst_processor) {
  const std::vector<int> processors = {0, 1};
  EXPECT_EQ(heat_throttled_times(root_.path(), processors), std::nullopt);
  EXPECT_EQ(slowest_megahertz(root_.path()), std::nullopt);
  root_.write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4\n");
  root_.write("sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "9\n");
  EXPECT_EQ(heat_throttled_times(root_.path(), processors), 4);
  root_.write("proc/cpuinfo", "processor : 0\ncpu MHz\t\t: 2600.5\n\ncpu MHz\t\t: 1200.25\n");
  EXPECT_EQ(slowest_megahertz(root_.path()), 1200.25);
}

TEST_F(ProcessorTest, stolen_time_is_the_eighth_number) {
  EXPECT_EQ(stolen_ticks(root_.path()), std::nullopt);
  root_.write("proc/stat", "cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 1 1 1 1 1 1 1\n");
  EXPECT_EQ(stolen_ticks(root_.path()), 88);
  root_.write("proc/stat", "cpu  1 2 3\n");
  EXPECT_EQ(stolen_ticks(root_.path()), std::nullopt);
}

}  // namespace
}  // namespace sampan::base
