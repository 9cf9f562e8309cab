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

/// What is at `path`, links followed; `not_found` where there is nothing. Throws `Error` where the
/// system does not tell: a name that is too long, links in a circle, a folder that may not be read.
std::filesystem::file_status status_of(const std::filesystem::path& path);

/// `path` from the root on, not resolved further. Throws `Error` for an empty path and where the
/// working folder is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace sampan::base
