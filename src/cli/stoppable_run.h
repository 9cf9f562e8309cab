#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "cli/interrupt.h"

namespace sampan::cli {

/// Runs `work` and lets a signal stop it: the program then ends by that signal, having said what
/// became of the work (`outcome`: "nothing was written"; empty: says nothing). Make no thread
/// before.
void run_interruptible(const std::function<void(const Interrupt&)>& work,
                       std::string_view outcome = {});

/// The same for work that writes a folder whole or not at all.
void run_until_signal(const std::function<void(const std::stop_token&)>& work);

}  // namespace sampan::cli
