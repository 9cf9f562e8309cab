#include "verify/latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sampan/exporter.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::verify {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;

TEST(TimeSpread, IsMadeOfTimesThatOccurred) {
  std::vector<double> times;
  for (int i = 100; i >= 1; --i) times.push_back(i);
  const TimeSpread spread = spread_of(times);
  EXPECT_EQ(spread.p50, 50);
  EXPECT_EQ(spread.p90, 90);
  EXPECT_EQ(spread.p99, 99);
  EXPECT_EQ(spread_of(std::vector<double>{7}).p99, 7);
  EXPECT_EQ(spread_of({}).p50, 0);
}

TEST(Drift, ComparesTheLastQuarterWithTheFirst) {
  const std::vector<double> slower = {10, 10, 99, 1, 1, 1, 1, 1, 1, 1, 12, 12};
  EXPECT_NEAR(drift_of(slower), 0.2, 1e-12);  // the middle of {10, 10, 99} and of {1, 12, 12}
  const std::vector<double> faster = {20, 20, 5, 5, 5, 5, 10, 10};
  EXPECT_EQ(drift_of(faster), -0.5);
  EXPECT_EQ(drift_of(std::vector<double>{1, 2, 3}), 0);
}

class DisturbanceTest : public ::testing::Test {
 protected:
  std::optional<bool> throttled(const DisturbanceWatch& watch) { return watch.throttled(note_); }

  test::TemporaryFolder root_;
  std::string note_;
};

TEST_F(DisturbanceTest, WhatTheSystemDoesNotTellIsNotKnown) {
  EXPECT_EQ(throttled(DisturbanceWatch(root_.path())), std::nullopt);
  EXPECT_THAT(note_, HasSubstr("periods stopped by a quota: not told here"));
  EXPECT_THAT(note_, HasSubstr("clock: not told here"));
}

TEST_F(DisturbanceTest, CountersThatRiseMeanThrottling) {
  root_.write("proc/self/cgroup", "0::/\n");
  root_.write("sys/fs/cgroup/cpu.stat", "nr_throttled 7\n");
  root_.write("proc/cpuinfo", "cpu MHz : 3000\n");
  root_.write("proc/stat", "cpu 0 0 0 0 0 0 0 5\n");
  DisturbanceWatch watch(root_.path());
  EXPECT_EQ(throttled(watch), false);
  root_.write("sys/fs/cgroup/cpu.stat", "nr_throttled 9\n");
  root_.write("proc/cpuinfo", "cpu MHz : 2000\n");
  root_.write("proc/stat", "cpu 0 0 0 0 0 0 0 6\n");
  watch.sample();
  EXPECT_EQ(throttled(watch), true);
  EXPECT_THAT(note_, HasSubstr("periods stopped by a quota: 2"));
  EXPECT_THAT(note_, HasSubstr("2000 to 3000 MHz"));
  EXPECT_THAT(note_, HasSubstr("ticks taken by the host: 1"));
}

class LatencyTest : public ::testing::Test {
 protected:
  LatencyTest() {
    export_checkpoint(std::filesystem::path(kSourceFolder) / "models/tatoeba-en-zh",
                      folder_ / "package");
  }

  test::TemporaryFolder folder_;
};

TEST_F(LatencyTest, EveryRunIsTimedOnEveryClock) {
  LoadOptions load;
  load.threads = 1;
  const Translator translator = Translator::load(folder_ / "package", load);
  std::size_t told = 0;
  const Latency latency =
      measure_latency({translator, "Hello.", 12, {}, 1, [&](std::string_view) { ++told; }, {}});
  EXPECT_EQ(latency.wall_ms.size(), 12u);
  EXPECT_EQ(latency.cpu_ms.size(), 12u);
  EXPECT_THAT(latency.wall_ms, Each(Gt(0.0)));
  EXPECT_GT(latency.thread_cpu.p50, 0.0);
  EXPECT_LE(latency.wall.p50, latency.wall.p90);
  EXPECT_LE(latency.wall.p90, latency.wall.p99);
  EXPECT_GT(latency.cpu_per_wall, 0.0);
  EXPECT_EQ(told, 12u);
  EXPECT_FALSE(latency.conditions.empty());

  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(test::caught_error([&] {
              measure_latency({translator, "Hello.", 1, {}, 1, {}, stop.get_token()});
            }).code(),
            ErrorCode::kCancelled);
  EXPECT_EQ(test::caught_error([&] {
              measure_latency({translator, "", 1, {}, 1, {}, {}});
            }).code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sampan::verify
