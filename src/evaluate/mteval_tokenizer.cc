#include "evaluate/mteval_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "base/utf8.h"

namespace sampan::evaluate {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The blocks that sacrebleu takes for Chinese. Its entry for Extension B is spelled in a way that
// Python reads as everything from behind U+2000 to U+2A6D, so punctuation such as “ ” … counts, and
// Extension B itself does not: kept, for the sake of equal scores.
constexpr std::array<Range, 18> kChinese = {{
    {0x3400, 0x4db5}, {0x4e00, 0x9fbb}, {0xf900, 0xfa2d}, {0xfa30, 0xfa6a}, {0xfa70, 0xfad9},
    {0x2001, 0x2a6d}, {0xff00, 0xffef}, {0x2e80, 0x2eff}, {0x3000, 0x303f}, {0x31c0, 0x31ef},
    {0x2f00, 0x2fdf}, {0x2ff0, 0x2fff}, {0x3100, 0x312f}, {0x31a0, 0x31bf}, {0xfe10, 0xfe1f},
    {0xfe30, 0xfe4f}, {0x3200, 0x32ff}, {0x3300, 0x33ff},
}};

bool is_chinese(char32_t c) {
  return std::any_of(kChinese.begin(), kChinese.end(),
                     [c](Range range) { return c >= range.first && c <= range.last; });
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_point(char32_t c) { return c == U'.' || c == U','; }

/// ASCII symbols that always stand alone: all but . , - ' and letters and digits.
bool is_symbol(char32_t c) {
  return (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') || c == U'/' ||
         (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

std::u32string space_out_symbols(const std::u32string& line) {
  std::u32string out;
  for (const char32_t c : line) {
    if (is_symbol(c))
      out.append({U' ', c, U' '});
    else
      out.push_back(c);
  }
  return out;
}

/// Walks over the line in pairs that do not overlap, as a regular expression's substitution does:
/// a pair that `matches` is written with spaces at the places that are asked for.
template <typename Matches>
std::u32string space_out_pairs(const std::u32string& line, Matches matches, bool before,
                               bool after) {
  std::u32string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i + 1 == line.size() || !matches(line[i], line[i + 1])) {
      out.push_back(line[i]);
      continue;
    }
    if (before) out.push_back(U' ');
    out.append({line[i], U' ', line[i + 1]});
    if (after) out.push_back(U' ');
    ++i;
  }
  return out;
}

std::vector<std::u32string> split(const std::u32string& line) {
  std::vector<std::u32string> words;
  auto from = line.begin();
  while (true) {
    from = std::find_if_not(from, line.end(), is_white_space);
    if (from == line.end()) return words;
    const auto to = std::find_if(from, line.end(), is_white_space);
    words.emplace_back(from, to);
    from = to;
  }
}

std::vector<std::u32string> split_words(std::u32string line) {
  line = space_out_symbols(line);
  // Full stop and comma unless preceded by a digit; unless followed by one; a dash behind a digit.
  line = space_out_pairs(
      line, [](char32_t a, char32_t b) { return !is_digit(a) && is_point(b); }, false, true);
  line = space_out_pairs(
      line, [](char32_t a, char32_t b) { return is_point(a) && !is_digit(b); }, true, false);
  line = space_out_pairs(
      line, [](char32_t a, char32_t b) { return is_digit(a) && b == U'-'; }, false, true);
  return split(line);
}

void replace_all(std::u32string& line, std::u32string_view what, std::u32string_view by) {
  for (std::size_t at = line.find(what); at != std::u32string::npos;
       at = line.find(what, at + by.size()))
    line.replace(at, what.size(), by);
}

}  // namespace

std::string_view tokenizer_name(BleuTokenizer tokenizer) noexcept {
  return tokenizer == BleuTokenizer::kZh ? "zh" : "13a";
}

BleuTokenizer tokenizer_for(std::span<const std::string> lines) {
  std::size_t chinese = 0, all = 0;
  for (const std::string& line : lines)
    for (const char32_t c : base::code_points(line)) {
      if (is_white_space(c)) continue;
      ++all;
      if (is_chinese(c)) ++chinese;
    }
  return 2 * chinese > all ? BleuTokenizer::kZh : BleuTokenizer::k13a;
}

bool is_white_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

std::vector<std::u32string> tokenize(std::string_view text, BleuTokenizer tokenizer) {
  std::u32string line = base::code_points(text);
  while (!line.empty() && is_white_space(line.back())) line.pop_back();
  if (tokenizer == BleuTokenizer::kZh) {
    std::u32string spaced;
    const auto first = std::find_if_not(line.begin(), line.end(), is_white_space);
    for (const char32_t c : std::u32string_view(first, line.end())) {
      if (is_chinese(c))
        spaced.append({U' ', c, U' '});
      else
        spaced.push_back(c);
    }
    return split_words(std::move(spaced));
  }
  replace_all(line, U"<skipped>", U"");
  replace_all(line, U"-\n", U"");
  replace_all(line, U"\n", U" ");
  replace_all(line, U"&quot;", U"\"");
  replace_all(line, U"&amp;", U"&");
  replace_all(line, U"&lt;", U"<");
  replace_all(line, U"&gt;", U">");
  return split_words(U" " + line + U" ");
}

}  // namespace sampan::evaluate
