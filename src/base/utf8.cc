#include "base/utf8.h"

#include <cstdint>

namespace sampan::base {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// Bounds of the second byte: they alone tell overlong forms, surrogates and too large values.
struct Lead {
  std::size_t length = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
};

Lead classify(std::uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead >= 0xC2 && lead <= 0xDF) return {2};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {4};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

struct Scan {
  std::size_t bytes = 0;  // taken: a whole sequence, or the maximal subpart of a broken one
  bool whole = false;
};

Scan scan(std::string_view text) {
  const Lead lead = classify(byte_at(text, 0));
  if (lead.length == 0) return {1, false};
  for (std::size_t i = 1; i < lead.length; ++i) {
    const std::uint8_t low = i == 1 ? lead.low : 0x80;
    const std::uint8_t high = i == 1 ? lead.high : 0xBF;
    if (i == text.size() || byte_at(text, i) < low || byte_at(text, i) > high) return {i, false};
  }
  return {lead.length, true};
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const Scan found = scan(text);
  return found.whole ? found.bytes : 0;
}

std::size_t valid_utf8_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (length < text.size()) {
    if (byte_at(text, length) < 0x80) {
      ++length;
      continue;
    }
    const Scan found = scan(text.substr(length));
    if (!found.whole) break;
    length += found.bytes;
  }
  return length;
}

std::size_t replace_invalid_utf8(std::string& text) {
  std::size_t valid = valid_utf8_length(text);
  if (valid == text.size()) return 0;
  std::string repaired;
  repaired.reserve(text.size() + 16);
  std::size_t replaced = 0;
  std::string_view rest = text;
  while (true) {
    repaired += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    repaired += "\xEF\xBF\xBD";
    ++replaced;
    rest.remove_prefix(scan(rest).bytes);
    valid = valid_utf8_length(rest);
  }
  text = std::move(repaired);
  return replaced;
}

std::u32string code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Scan found = scan(text);
    char32_t value = 0xFFFD;
    if (found.whole && found.bytes == 1) value = byte_at(text, 0);
    if (found.whole && found.bytes > 1) {
      value = byte_at(text, 0) & (0x7Fu >> found.bytes);
      for (std::size_t i = 1; i < found.bytes; ++i) value = (value << 6) | (byte_at(text, i) & 0x3Fu);
    }
    out.push_back(value);
    text.remove_prefix(found.bytes);
  }
  return out;
}

}  // namespace sampan::base
