#pragma once

#include <functional>
#include <stop_token>

namespace sampan::cli {

/// Runs what writes a folder whole or not at all, and lets a signal stop it: the program then ends
/// by that signal, having said so.
void run_until_signal(const std::function<void(const std::stop_token&)>& work);

}  // namespace sampan::cli
