#pragma once

#include <fmt/format.h>

#include <utility>

#include "sampan/error.h"

namespace sampan::base {

/// Throws `Error(code)` with a formatted message. The message names the file, tensor or node, the
/// bad value, and what to do next.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> message, Args&&... args) {
  throw Error(code, fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace sampan::base
