#pragma once

#include <string>
#include <string_view>

namespace sampan::base {

/// Text from a file as one short, safe line for a message: bytes outside printable ASCII become
/// `\xNN`, and what goes beyond some 100 characters is cut.
std::string printable(std::string_view text);

}  // namespace sampan::base
