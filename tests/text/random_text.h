#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sampan::text {

/// The generator of tests/data/text/make_golden.py: splitmix64 and what is drawn with it.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return ((z ^ (z >> 31)) >> 11) % limit;
  }

 private:
  std::uint64_t state_;
};

inline void append_utf8(std::string& text, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

/// Runs of 1 to 6 characters of one range each; a text never starts with '>'.
inline std::string random_text(Random& random) {
  struct Range {
    std::uint32_t first, last;
  };
  static constexpr std::array<Range, 44> kRanges = {
      {{0x61, 0x7A},       {0x61, 0x7A},       {0x41, 0x5A},         {0x20, 0x20},
       {0x20, 0x2F},       {0x30, 0x39},       {0x3A, 0x40},         {0x5B, 0x60},
       {0x7B, 0x7E},       {0x01, 0x1F},       {0x7F, 0xA0},         {0xA1, 0xFF},
       {0x100, 0x24F},     {0x250, 0x2FF},     {0x300, 0x36F},       {0x370, 0x52F},
       {0x590, 0x6FF},     {0x900, 0x97F},     {0xE00, 0xE7F},       {0x1100, 0x11FF},
       {0x2000, 0x206F},   {0x2070, 0x214F},   {0x2150, 0x23FF},     {0x2400, 0x27BF},
       {0x2E80, 0x303F},   {0x3040, 0x30FF},   {0x3100, 0x33FF},     {0x4E00, 0x9FFF},
       {0x4E00, 0x51FF},   {0xAC00, 0xD7A3},   {0xE000, 0xE0FF},     {0xF900, 0xFAFF},
       {0xFB00, 0xFB4F},   {0xFB50, 0xFDFF},   {0xFE00, 0xFE6F},     {0xFE70, 0xFEFF},
       {0xFF00, 0xFFEF},   {0xFFF0, 0xFFFF},   {0x1D400, 0x1D7FF},   {0x1F000, 0x1FAFF},
       {0x20000, 0x2A6DF}, {0xE0000, 0xE007F}, {0x10FF00, 0x10FFFF}, {0x2581, 0x2581}}};
  std::string text;
  const std::uint64_t runs = 1 + random.below(12);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Range range = kRanges[random.below(kRanges.size())];
    const std::uint64_t length = 1 + random.below(6);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint64_t step = random.below(range.last - range.first + 1);
      append_utf8(text, range.first + static_cast<std::uint32_t>(step));
    }
  }
  const std::size_t start = text.find_first_not_of('>');
  return start == std::string::npos ? std::string() : text.substr(start);
}

/// Up to 24 ids, some of them outside of a vocabulary of `limit` entries.
inline std::vector<std::int64_t> random_ids(Random& random, std::uint64_t limit) {
  std::vector<std::int64_t> ids(1 + random.below(24));
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(limit + 20));
  return ids;
}

}  // namespace sampan::text
