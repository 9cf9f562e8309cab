#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "base/file_descriptor.h"

namespace sampan::cli {

/// The one place that says whether a run should end early: asked by a signal, by a failing thread,
/// or by the clock. Thread-safe.
class Interrupt {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  explicit Interrupt(Deadline deadline = {});

  /// Asks the run to stop; wakes whoever is in `wait`.
  void request_stop() noexcept;
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  const Deadline& deadline() const noexcept { return deadline_; }

  /// Waits until `descriptor` is ready for `events` (POLLIN, POLLOUT). Throws `Error`: kCancelled
  /// when the run should stop, kDeadlineExceeded.
  void wait(int descriptor, short events) const;
  /// Waits this long, unless the run should end before: then it throws what `wait` throws.
  void pause(std::chrono::milliseconds time) const;
  /// Whether it is ready now.
  static bool ready(int descriptor, short events) noexcept;

 private:
  Deadline deadline_;
  std::stop_source stop_;
  base::FileDescriptor wake_;  // an eventfd that stays readable once the run should stop
};

}  // namespace sampan::cli
