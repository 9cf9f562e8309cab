#include "cli/signal_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/system_error.h"

namespace sampan::cli {
namespace {

sigset_t signals_to_watch() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

SignalWatch::SignalWatch(Interrupt& interrupt) : interrupt_(interrupt) {
  const sigset_t set = signals_to_watch();
  signals_ = base::FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC));
  quit_ = base::FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!signals_.is_open() || !quit_.is_open())
    base::fail_with_errno(errno, "cannot create", "signal descriptor");
  pthread_sigmask(SIG_BLOCK, &set, &old_mask_);
  thread_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  ::eventfd_write(quit_.get(), 1);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void SignalWatch::watch() noexcept {
  while (true) {
    std::array<pollfd, 2> polled = {{{signals_.get(), POLLIN, 0}, {quit_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    if (polled[0].revents == 0) return;
    signalfd_siginfo info = {};
    if (::read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    const int signal = static_cast<int>(info.ssi_signo);
    if (received_ != 0) ::_exit(128 + signal);
    received_ = signal;
    interrupt_.request_stop();
  }
}

int die_by_signal(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace sampan::cli
