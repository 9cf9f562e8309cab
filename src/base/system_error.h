#pragma once

#include <filesystem>
#include <string_view>

#include "sampan/error.h"

namespace sampan::base {

/// The error code that stands for a value of `errno`.
ErrorCode error_code_of_errno(int error) noexcept;

/// Throws `Error` for a failed system call: "PATH: ACTION: reason; next step".
[[noreturn]] void fail_with_errno(int error, std::string_view action,
                                  const std::filesystem::path& path);

}  // namespace sampan::base
