#include "cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/fail.h"
#include "base/system_error.h"

namespace sampan::cli {
namespace {

// Milliseconds until the deadline for poll(): -1 is for ever, 0 is over.
int patience(const Interrupt::Deadline& deadline) {
  if (!deadline) return -1;
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000'000));
}

[[noreturn]] void fail_as_stopped() { base::fail(ErrorCode::kCancelled, "stopped before the end"); }

[[noreturn]] void fail_as_late() {
  base::fail(ErrorCode::kDeadlineExceeded, "the deadline passed before the end of the input");
}

}  // namespace

Interrupt::Interrupt(Deadline deadline)
    : deadline_(deadline), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) base::fail_with_errno(errno, "cannot create", "event descriptor");
}

void Interrupt::request_stop() noexcept {
  stop_.request_stop();
  ::eventfd_write(wake_.get(), 1);
}

void Interrupt::wait(int descriptor, short events) const {
  while (true) {
    if (stop_.stop_requested()) fail_as_stopped();
    std::array<pollfd, 2> polled = {{{descriptor, events, 0}, {wake_.get(), POLLIN, 0}}};
    const int found = ::poll(polled.data(), polled.size(), patience(deadline_));
    if (found < 0 && errno != EINTR) base::fail_with_errno(errno, "cannot wait for", "a stream");
    if (found > 0 && polled[0].revents != 0 && polled[1].revents == 0) return;
    if (found == 0 && patience(deadline_) == 0) fail_as_late();
  }
}

void Interrupt::pause(std::chrono::milliseconds time) const {
  const int left = patience(deadline_);
  const int most = static_cast<int>(time.count());
  pollfd polled = {wake_.get(), POLLIN, 0};
  ::poll(&polled, 1, left < 0 ? most : std::min(left, most));
  if (stop_.stop_requested()) fail_as_stopped();
  if (patience(deadline_) == 0) fail_as_late();
}

bool Interrupt::ready(int descriptor, short events) noexcept {
  pollfd polled = {descriptor, events, 0};
  return ::poll(&polled, 1, 0) > 0;
}

}  // namespace sampan::cli
