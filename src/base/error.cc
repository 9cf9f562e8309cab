#include "sampan/error.h"

#include <array>

namespace sampan {
namespace {

struct Mapping {
  ErrorCode code;
  std::string_view name;
  int exit_code;
  int http_status;
};

constexpr std::array<Mapping, 11> kMappings = {{
    {ErrorCode::kInvalidArgument, "invalid_argument", 2, 400},
    {ErrorCode::kNotFound, "not_found", 3, 404},
    {ErrorCode::kAlreadyExists, "already_exists", 4, 409},
    {ErrorCode::kPermissionDenied, "permission_denied", 5, 403},
    {ErrorCode::kInvalidData, "invalid_data", 6, 422},
    {ErrorCode::kUnsupported, "unsupported", 7, 501},
    {ErrorCode::kIncompatible, "incompatible", 8, 501},
    {ErrorCode::kResourceExhausted, "resource_exhausted", 9, 507},
    {ErrorCode::kCancelled, "cancelled", 10, 499},
    {ErrorCode::kDeadlineExceeded, "deadline_exceeded", 11, 504},
    {ErrorCode::kInternal, "internal", 12, 500},
}};

const Mapping& mapping(ErrorCode code) noexcept {
  for (const Mapping& entry : kMappings)
    if (entry.code == code) return entry;
  return kMappings.back();
}

}  // namespace

std::string_view error_name(ErrorCode code) noexcept { return mapping(code).name; }
int exit_code(ErrorCode code) noexcept { return mapping(code).exit_code; }
int http_status(ErrorCode code) noexcept { return mapping(code).http_status; }

}  // namespace sampan
