#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "sampan/export.h"

namespace sampan {

/// Why an operation could not go on. Each code maps once to an exit code of the program and once to
/// an HTTP status (`exit_code`, `http_status`); docs/errors.md lists them for users.
enum class ErrorCode {
  kInvalidArgument,    ///< an option or a request is wrong or contradicts another one
  kNotFound,           ///< a file, folder or name that was asked for does not exist
  kAlreadyExists,      ///< the output exists and may not be replaced
  kPermissionDenied,   ///< the system refuses to read or write a path
  kInvalidData,        ///< a file or its content is damaged, truncated or contradicts itself
  kUnsupported,        ///< well formed, but a thing this build cannot do
  kIncompatible,       ///< a package or runtime version that does not fit this one
  kResourceExhausted,  ///< no space, no memory, or a documented limit is exceeded
  kCancelled,          ///< the caller or a signal asked to stop
  kDeadlineExceeded,   ///< the caller's time limit passed
  kInternal,           ///< a fault of sampan itself
};

/// The one exception type of the library. `what()` names the file, tensor or node, the bad value,
/// and the next step.
class SAMPAN_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Lower-case name of a code, for logs and JSON: "invalid_data".
SAMPAN_API std::string_view error_name(ErrorCode code) noexcept;
/// Exit code of the program, 2..13; 0 is success and 1 is never used.
SAMPAN_API int exit_code(ErrorCode code) noexcept;
/// HTTP status of a server's answer, 4xx or 5xx.
SAMPAN_API int http_status(ErrorCode code) noexcept;

}  // namespace sampan
