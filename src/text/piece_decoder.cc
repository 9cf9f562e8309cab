#include "text/piece_decoder.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace sampan::text {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
}

// Byte pieces are spelled <0x0A>.
char byte_of(std::string_view piece) {
  unsigned value = 0;
  if (piece.size() == 6) std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  return static_cast<char>(static_cast<unsigned char>(value));
}

void append_bytes(std::string& text, std::string& bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t length = base::utf8_sequence_length(rest);
    text += length == 0 ? kReplacement : rest.substr(0, length);
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  bytes.clear();
}

// The characters that Python's str.strip takes away.
bool is_python_space(std::string_view character) {
  if (character.size() == 1) {
    const auto c = static_cast<unsigned char>(character[0]);
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  }
  static constexpr std::array<std::string_view, 18> kWide = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
      "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
      "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F"};
  for (const std::string_view space : kWide)
    if (character == space) return true;
  return character == "\xE3\x80\x80";
}

std::string_view strip(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = base::utf8_sequence_length(text);
    if (!is_python_space(text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) --start;
    if (!is_python_space(text.substr(start))) break;
    text = text.substr(0, start);
  }
  return text;
}

}  // namespace

PieceDecoder::PieceDecoder(const SpmFile& file) : unknown_surface_(file.unknown_surface) {
  for (const SpmPiece& piece : file.pieces) {
    if (piece.type == SpmPiece::Type::kControl || piece.type == SpmPiece::Type::kUnknown ||
        piece.type == SpmPiece::Type::kByte)
      special_pieces_.emplace(piece.text,
                              SpecialPiece{.type = piece.type, .byte = byte_of(piece.text)});
  }
}

std::string PieceDecoder::decode(std::span<const std::string_view> pieces) const {
  std::string text;
  std::string bytes;
  for (const std::string_view piece : pieces) {
    const auto special = special_pieces_.find(std::string(piece));
    if (special != special_pieces_.end() && special->second.type == SpmPiece::Type::kByte) {
      bytes += special->second.byte;
      continue;
    }
    append_bytes(text, bytes);
    if (special == special_pieces_.end()) {
      text += piece;
    } else if (special->second.type == SpmPiece::Type::kUnknown) {
      text += unknown_surface_;
    }
  }
  append_bytes(text, bytes);
  replace_all(text, kSpaceMark, " ");
  return std::string(strip(text));
}

std::string clean_up_spaces(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kRules = {{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [what, by] : kRules) replace_all(text, what, by);
  return text;
}

}  // namespace sampan::text
