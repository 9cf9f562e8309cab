#pragma once

#include <string_view>

namespace sampan::base {

/// The git commit this build was configured at, 12 hexadecimal digits; empty outside a repository.
std::string_view build_commit() noexcept;

}  // namespace sampan::base
