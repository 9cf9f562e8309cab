#include "text/characters.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <cstdint>

#include "base/utf8.h"

namespace sampan::text {
namespace {

UChar32 icu(char32_t code) { return static_cast<UChar32>(code); }

bool in_category(char32_t code, std::uint32_t mask) {
  return (U_GET_GC_MASK(icu(code)) & mask) != 0;
}

char32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]));
  };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

template <typename Predicate>
bool any_character(std::string_view text, Predicate predicate) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (predicate(character.code)) return true;
    text.remove_prefix(character.length);
  }
  return false;
}

}  // namespace

Character first_character(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t length = base::utf8_sequence_length(text);
  if (length == 0) return {.code = 0xFFFD, .length = 1};
  return {.code = decode(text.substr(0, length)), .length = length};
}

Character last_character(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const std::string_view end = text.substr(text.size() - length);
    if (base::utf8_sequence_length(end) == length) return {.code = decode(end), .length = length};
  }
  return {.code = 0xFFFD, .length = text.empty() ? std::size_t{0} : std::size_t{1}};
}

bool is_space(char32_t code) { return code == 0x200B || u_isUWhiteSpace(icu(code)) != 0; }

bool is_line_break(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

bool is_letter(char32_t code) { return in_category(code, U_GC_L_MASK); }
bool is_lower_case(char32_t code) { return in_category(code, U_GC_LL_MASK); }
bool is_upper_case(char32_t code) { return in_category(code, U_GC_LU_MASK | U_GC_LT_MASK); }
bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }
bool is_punctuation(char32_t code) { return in_category(code, U_GC_P_MASK); }

bool is_opening(char32_t code) {
  return code == '"' || code == '\'' || code == 0xBF || code == 0xA1 ||
         in_category(code, U_GC_PS_MASK | U_GC_PI_MASK);
}

// German closes with U+201C, which English opens with.
bool is_closing(char32_t code) {
  return code == '"' || code == '\'' || code == 0x201C ||
         in_category(code, U_GC_PE_MASK | U_GC_PF_MASK);
}

bool is_unspaced(char32_t code) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(icu(code), &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_BOPOMOFO:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
    case USCRIPT_TIBETAN:
      return true;
    default:
      return code >= 0x3001 && code <= 0x30FF;  // CJK punctuation and what Kana share
  }
}

bool has_letter(std::string_view text) { return any_character(text, is_letter); }

bool is_punctuation_only(std::string_view text) {
  return !any_character(text,
                        [](char32_t code) { return !is_punctuation(code) && !is_space(code); });
}

ByteRange trimmed(std::string_view text, ByteRange range) {
  while (range.begin < range.end) {
    const Character first = first_character(part_of(text, range));
    if (!is_space(first.code)) break;
    range.begin += first.length;
  }
  while (range.begin < range.end) {
    const Character last = last_character(part_of(text, range));
    if (!is_space(last.code)) break;
    range.end -= last.length;
  }
  return range;
}

}  // namespace sampan::text
