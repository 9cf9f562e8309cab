#pragma once

#include <cstddef>
#include <string_view>

#include "sampan/alignment.h"

namespace sampan::text {

/// A code point and the bytes that it takes in UTF-8; bytes that are no UTF-8 count as U+FFFD, one
/// each. `length` is 0 at the end of a text.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;
};

Character first_character(std::string_view text);
Character last_character(std::string_view text);

// Properties after Unicode's general categories.
bool is_space(char32_t code);       ///< White_Space, zero width space
bool is_line_break(char32_t code);  ///< LF, VT, FF, CR, NEL, line and paragraph separator
bool is_letter(char32_t code);
bool is_lower_case(char32_t code);
bool is_upper_case(char32_t code);  ///< or title case
bool is_digit(char32_t code);       ///< 0 to 9
bool is_punctuation(char32_t code);
bool is_opening(char32_t code);  ///< bracket or quotation mark that may begin a sentence
bool is_closing(char32_t code);  ///< bracket or quotation mark that may end one
/// Of a script that puts no spaces between words: Han, Kana, Thai, Lao, Khmer, Myanmar, Tibetan.
bool is_unspaced(char32_t code);

/// Whether any character is a letter; text without one means the same in every language.
bool has_letter(std::string_view text);
/// Whether all characters are punctuation or white space.
bool is_punctuation_only(std::string_view text);
/// `range` without the white space at both ends; empty, at its end, if nothing else is in it.
ByteRange trimmed(std::string_view text, ByteRange range);

inline std::string_view part_of(std::string_view text, ByteRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

}  // namespace sampan::text
