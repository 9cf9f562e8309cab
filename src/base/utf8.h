#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sampan::base {

/// Length in bytes of the well-formed UTF-8 sequence that `text` begins with (Unicode 15, table
/// 3-7: no surrogates, no overlong forms, at most U+10FFFF); 0 if it begins with none or is empty.
std::size_t utf8_sequence_length(std::string_view text) noexcept;

/// Bytes at the start of `text` that are well-formed UTF-8: text.size() if all of it is.
std::size_t valid_utf8_length(std::string_view text) noexcept;

/// Replaces what is not well-formed UTF-8 by U+FFFD, one for each maximal subpart of a sequence
/// (Unicode 15, section 3.9), as Python and browsers do. Returns how many were put in.
std::size_t replace_invalid_utf8(std::string& text);

/// The code points of valid UTF-8; what is not well-formed becomes U+FFFD.
std::u32string code_points(std::string_view text);

}  // namespace sampan::base
