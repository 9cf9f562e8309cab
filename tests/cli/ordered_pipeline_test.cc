#include "cli/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sampan::cli {
namespace {

using Pipeline = OrderedPipeline<int, int>;

void pause(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

std::string failure_of(Pipeline& pipeline) {
  try {
    pipeline.finish();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(OrderedPipeline, ConsumesInTheOrderOfSubmission) {
  std::vector<int> consumed;
  std::atomic<int> waiting = 0;
  std::atomic<int> most_waiting = 0;
  {
    Pipeline pipeline(4, {.work =
                              [](int number) {
                                pause(number % 3 == 0 ? 300 : 10);
                                return number * 10;
                              },
                          .consume =
                              [&](int result) {
                                --waiting;
                                consumed.push_back(result);
                              },
                          .on_failure = [] {}});
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(pipeline.wait_for_room());
      pipeline.submit(i);
      most_waiting = std::max<int>(most_waiting, ++waiting);
    }
    pipeline.finish();
  }
  ASSERT_EQ(consumed.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(consumed[static_cast<std::size_t>(i)], i * 10);
  EXPECT_LE(most_waiting, 11);
}

TEST(OrderedPipeline, ConsumesWhatCameBeforeAFailureAndNothingAfter) {
  for (const std::size_t workers : {1u, 3u}) {
    std::vector<int> consumed;
    std::atomic<int> failures = 0;
    Pipeline pipeline(workers, {.work =
                                    [](int number) {
                                      if (number == 5) {
                                        pause(2000);
                                        throw std::runtime_error("five");
                                      }
                                      return number;
                                    },
                                .consume = [&](int result) { consumed.push_back(result); },
                                .on_failure = [&] { ++failures; }});
    for (int i = 0; i < 100 && pipeline.wait_for_room(); ++i) pipeline.submit(i);
    EXPECT_FALSE(pipeline.wait_for_room());
    EXPECT_EQ(failure_of(pipeline), "five");
    EXPECT_EQ(consumed, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(failures, 1);
  }
}

TEST(OrderedPipeline, ConsumesNothingMoreAfterTheConsumerFailed) {
  std::vector<int> consumed;
  Pipeline pipeline(2, {.work = [](int number) { return number; },
                        .consume =
                            [&](int result) {
                              if (result == 3) throw std::runtime_error("full");
                              consumed.push_back(result);
                            },
                        .on_failure = [] {}});
  for (int i = 0; i < 50 && pipeline.wait_for_room(); ++i) pipeline.submit(i);
  EXPECT_EQ(failure_of(pipeline), "full");
  EXPECT_EQ(consumed, (std::vector<int>{0, 1, 2}));
}

TEST(OrderedPipeline, EndsItsThreadsWhenItIsAbandoned) {
  std::atomic<bool> told = false;
  {
    Pipeline pipeline(2, {.work =
                              [&](int number) {
                                while (!told) pause(10);
                                return number;
                              },
                          .consume = [](int) {},
                          .on_failure = [&] { told = true; }});
    pipeline.submit(1);
  }
  EXPECT_TRUE(told);
}

TEST(OrderedPipeline, FinishesWithoutAnyInput) {
  Pipeline pipeline(
      2, {.work = [](int number) { return number; }, .consume = [](int) {}, .on_failure = [] {}});
  EXPECT_EQ(failure_of(pipeline), "none");
}

}  // namespace
}  // namespace sampan::cli
