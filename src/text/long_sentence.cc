#include "text/long_sentence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/break_iterator.h"
#include "text/characters.h"

namespace sampan::text {
namespace {

bool ends_clause(char32_t code) {
  return code == ';' || code == ':' || code == ',' || code == 0x2014;  // em dash
}

bool ends_wide_clause(char32_t code) {
  return code == 0xFF0C || code == 0x3001 || code == 0xFF1B || code == 0xFF1A;  // ，、；：
}

// Ends of the clauses of `range`, the last one included.
std::vector<std::size_t> clause_ends(std::string_view text, ByteRange range) {
  std::vector<std::size_t> ends;
  bool pending = false;  // a narrow mark was read: white space must follow
  for (std::size_t at = range.begin; at < range.end;) {
    const Character character = first_character(text.substr(at));
    if (pending && is_space(character.code)) ends.push_back(at);
    at += character.length;
    if (ends_wide_clause(character.code)) ends.push_back(at);
    pending = ends_clause(character.code) || (pending && is_closing(character.code));
  }
  ends.push_back(range.end);
  return ends;
}

std::vector<std::size_t> word_ends(std::string_view text, ByteRange range) {
  std::vector<std::size_t> ends;
  bool spaced = false;
  for (std::size_t at = range.begin; at < range.end;) {
    const Character character = first_character(text.substr(at));
    const bool space = is_space(character.code);
    if (!space && spaced) ends.push_back(at);
    spaced = space;
    at += character.length;
  }
  ends.push_back(range.end);
  return ends;
}

// A run without white space: only its words of unspaced scripts are cut, never an address.
std::vector<std::size_t> unspaced_word_ends(std::string_view text, ByteRange range) {
  std::vector<std::size_t> ends;
  BreakIterator words(BreakIterator::Kind::kWord, "");
  for (const std::size_t end : words.boundaries(part_of(text, range))) {
    const std::size_t at = range.begin + end;
    const bool inside = at < range.end && !is_unspaced(last_character(text.substr(0, at)).code) &&
                        !is_unspaced(first_character(text.substr(at)).code);
    if (!inside) ends.push_back(at);
  }
  return ends;
}

class Cutter {
 public:
  Cutter(std::string_view text, std::size_t max_tokens, const TokenCounter& count_tokens)
      : text_(text), max_tokens_(max_tokens), count_tokens_(count_tokens) {}

  void cut(ByteRange range, std::size_t level) {
    range = trimmed(text_, range);
    if (range.begin == range.end) return;
    if (fits(range)) {
      segments.push_back({.source = range, .kind = kind_of(range)});
    } else if (level == kLevels.size()) {
      segments.push_back({.source = range, .kind = Segment::Kind::kPassThrough});
    } else {
      pack(range, kLevels[level](text_, range), level);
    }
  }

  std::vector<Segment> segments;

 private:
  using Ends = std::vector<std::size_t> (*)(std::string_view, ByteRange);
  static constexpr std::array<Ends, 3> kLevels = {clause_ends, word_ends, unspaced_word_ends};

  bool fits(ByteRange range) const {
    return count_tokens_(part_of(text_, trimmed(text_, range))) <= max_tokens_;
  }
  Segment::Kind kind_of(ByteRange range) const {
    return has_letter(part_of(text_, range)) ? Segment::Kind::kTranslate
                                             : Segment::Kind::kPassThrough;
  }

  // Takes as many parts as fit, again and again; one that does not fit by itself is cut further.
  void pack(ByteRange range, const std::vector<std::size_t>& ends, std::size_t level) {
    std::size_t begin = range.begin;
    for (std::size_t next = 0; next < ends.size();) {
      const std::size_t count = fitting_parts(begin, ends, next);
      const std::size_t last = next + std::max<std::size_t>(count, 1) - 1;
      cut({begin, ends[last]}, level + 1);
      begin = ends[last];
      next = last + 1;
    }
  }

  // How many parts from `next` on fit together: doubled while they do, then halved in between, so
  // that little more than what fits is ever counted.
  std::size_t fitting_parts(std::size_t begin, const std::vector<std::size_t>& ends,
                            std::size_t next) const {
    const std::size_t available = ends.size() - next;
    const auto fit = [&](std::size_t count) { return fits({begin, ends[next + count - 1]}); };
    std::size_t low = 0;
    std::size_t step = 1;
    while (low < available && fit(std::min(low + step, available))) {
      low = std::min(low + step, available);
      step *= 2;
    }
    std::size_t high = std::min(low + step, available + 1);  // does not fit
    while (low + 1 < high) {
      const std::size_t middle = low + (high - low) / 2;
      (fit(middle) ? low : high) = middle;
    }
    return low;
  }

  std::string_view text_;
  std::size_t max_tokens_;
  const TokenCounter& count_tokens_;
};

}  // namespace

std::vector<Segment> cut_sentence(std::string_view text, ByteRange range, std::size_t max_tokens,
                                  const TokenCounter& count_tokens) {
  Cutter cutter(text, max_tokens, count_tokens);
  cutter.cut(range, 0);
  return std::move(cutter.segments);
}

}  // namespace sampan::text
