#pragma once

#include <atomic>
#include <csignal>
#include <thread>

#include "base/file_descriptor.h"
#include "cli/interrupt.h"

namespace sampan::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop of the run while it lives; a second signal ends the
/// program at once. Signals that were ignored when the program started stay ignored. Make it before
/// any thread, and at most one at a time: threads inherit the mask that it sets.
class SignalWatch {
 public:
  explicit SignalWatch(Interrupt& interrupt);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal that came, or 0.
  int received() const noexcept { return received_; }

 private:
  void watch() noexcept;

  Interrupt& interrupt_;
  sigset_t old_mask_;
  base::FileDescriptor signals_;
  base::FileDescriptor quit_;
  std::atomic<int> received_ = 0;
  std::thread thread_;
};

/// Ends the program by `signal`'s own action, as shells and service managers expect of a program
/// that was told to end; returns 128 + signal where the system does not let it (process 1).
int die_by_signal(int signal) noexcept;

}  // namespace sampan::cli
