#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

#include "session/runtime.h"

namespace sampan::session {
namespace {

std::size_t count_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

// The runtime's telemetry thread read freed memory while the process ended, and sent events out.
TEST(Environment, StartsNoThreadOfItsOwn) {
  const std::size_t before = count_threads();
  environment();
  EXPECT_EQ(count_threads(), before);
}

}  // namespace
}  // namespace sampan::session
