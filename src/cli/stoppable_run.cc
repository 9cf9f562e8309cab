#include "cli/stoppable_run.h"

#include <fmt/format.h>

#include <cstring>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/signal_watch.h"
#include "cli/terminal.h"
#include "sampan/error.h"

namespace sampan::cli {

void run_until_signal(const std::function<void(const std::stop_token&)>& work) {
  Interrupt interrupt;
  SignalWatch signals(interrupt);
  try {
    work(interrupt.stop_token());
  } catch (const Error& error) {
    const int signal = signals.received();
    if (error.code() != ErrorCode::kCancelled || signal == 0) throw;
    print_note(fmt::format("stopped by {}; nothing was written", strsignal(signal)));
    throw ExitStatus{die_by_signal(signal)};
  }
}

}  // namespace sampan::cli
