#include "base/system_error.h"

#include <cerrno>
#include <system_error>

#include "base/fail.h"

namespace sampan::base {
namespace {

std::string_view next_step(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "check the path";
    case ErrorCode::kPermissionDenied:
      return "check the permissions of the path and its folder";
    case ErrorCode::kAlreadyExists:
      return "choose another path or remove it";
    case ErrorCode::kResourceExhausted:
      return "free some space or raise the limit";
    default:
      return "check the device and the path";
  }
}

}  // namespace

ErrorCode error_code_of_errno(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kResourceExhausted;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:
    case EBADF:  // a standard stream that is closed
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kInternal;
  }
}

void fail_with_errno(int error, std::string_view action, const std::filesystem::path& path) {
  const ErrorCode code = error_code_of_errno(error);
  fail(code, "{}: {}: {}; {}", path.empty() ? "''" : path.string(), action,
       std::generic_category().message(error), next_step(code));
}

std::filesystem::file_status status_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none)
    fail_with_errno(error.value(), "cannot inspect", path);
  return status;
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  if (path.empty()) fail(ErrorCode::kInvalidArgument, "a path is empty; give its name");
  std::error_code error;
  std::filesystem::path result = std::filesystem::absolute(path, error);
  if (error) fail_with_errno(error.value(), "cannot find the working folder for", path);
  return result;
}

}  // namespace sampan::base
