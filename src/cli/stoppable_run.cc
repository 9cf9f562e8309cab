#include "cli/stoppable_run.h"

#include <fmt/format.h>

#include <cstring>

#include "cli/command.h"
#include "cli/signal_watch.h"
#include "cli/terminal.h"
#include "sampan/error.h"

namespace sampan::cli {

void run_interruptible(const std::function<void(const Interrupt&)>& work,
                       std::string_view outcome) {
  Interrupt interrupt;
  const SignalWatch signals(interrupt);
  try {
    work(interrupt);
  } catch (const Error&) {
    const int signal = signals.received();
    if (signal == 0) throw;
    if (!outcome.empty()) print_note(fmt::format("stopped by {}; {}", strsignal(signal), outcome));
    throw ExitStatus{die_by_signal(signal)};
  }
}

void run_until_signal(const std::function<void(const std::stop_token&)>& work) {
  run_interruptible([&work](const Interrupt& interrupt) { work(interrupt.stop_token()); },
                    "nothing was written");
}

}  // namespace sampan::cli
