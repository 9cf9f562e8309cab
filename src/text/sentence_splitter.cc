#include "text/sentence_splitter.h"

#include <algorithm>
#include <cstddef>

#include "text/abbreviations.h"
#include "text/break_iterator.h"
#include "text/characters.h"

namespace sampan::text {
namespace {

// The text on both sides of a boundary that Unicode's rules suggest.
struct Boundary {
  std::string_view before;  // from the beginning of the sentence, without white space at the end
  std::string_view after;
  bool spaced = false;  // white space stands between them
};

std::string_view without_closing(std::string_view text) {
  for (Character last = last_character(text); last.length != 0 && is_closing(last.code);
       last = last_character(text))
    text.remove_suffix(last.length);
  return text;
}

std::string_view without_opening(std::string_view text) {
  for (Character first = first_character(text); first.length != 0 && is_opening(first.code);
       first = first_character(text))
    text.remove_prefix(first.length);
  return text;
}

std::string_view without_spaces(std::string_view text) {
  for (Character first = first_character(text); first.length != 0 && is_space(first.code);
       first = first_character(text))
    text.remove_prefix(first.length);
  return text;
}

std::string_view last_word(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const Character last = last_character(text.substr(0, begin));
    if (is_space(last.code) || is_opening(last.code) || last.code == '/') break;
    begin -= last.length;
  }
  return text.substr(begin);
}

// Letters and apostrophes at the beginning.
std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  for (Character first = first_character(text);
       first.length != 0 && (is_letter(first.code) || first.code == '\'' || first.code == 0x2019);
       first = first_character(text.substr(end)))
    end += first.length;
  return text.substr(0, end);
}

// "1", "12)", "(a", "iv": the number of a list's item, before its full stop.
bool is_list_number(std::string_view text) {
  text = without_opening(text);
  if (text.ends_with(')')) text.remove_suffix(1);
  if (text.empty() || text.size() > 4) return false;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return text.size() <= 3;
  if (text.find_first_not_of("ivx") == std::string_view::npos) return true;
  return text.size() == 1 && text != "I" && is_letter(first_character(text).code);
}

// `before` ends with a full stop, `after` begins with no small letter.
bool full_stop_ends_sentence(std::string_view before, std::string_view after,
                             std::string_view language) {
  before.remove_suffix(1);
  const std::string_view next = first_word(without_opening(after));
  if (before.ends_with('.')) return next != "I" && !next.starts_with("I'");  // "I ... I know."
  if (is_list_number(before)) return false;
  const std::string_view word = last_word(before);
  const char32_t follows = first_character(without_opening(after)).code;
  switch (abbreviation_kind(word)) {
    case AbbreviationKind::kNeverEnds:
      return false;
    case AbbreviationKind::kBeforeNumber:
      return !is_digit(follows);
    case AbbreviationKind::kMayEnd:
      return !is_upper_case(follows) ? !is_digit(follows) : often_begins_sentence(next);
    case AbbreviationKind::kNone:
      break;
  }
  // German writes ordinals with a full stop: "am 3. Mai".
  const bool ordinal =
      word.size() <= 2 && word.find_first_not_of("0123456789") == std::string_view::npos;
  return !(language == "de" && ordinal && !word.empty());
}

bool ends_sentence(const Boundary& boundary, std::string_view language) {
  const std::string_view before = without_closing(boundary.before);
  const char32_t follows = first_character(without_opening(boundary.after)).code;
  const char32_t end = last_character(before).code;
  if (is_lower_case(follows)) return false;
  if (!boundary.spaced) {
    const bool ascii = end == '.' || end == '!' || end == '?';
    if (ascii && !is_unspaced(follows)) return false;
  }
  return end != '.' || full_stop_ends_sentence(before, boundary.after, language);
}

// Unicode's rules count an opening bracket right after a sentence to that sentence.
std::size_t before_opening(std::string_view text, std::size_t begin, std::size_t end) {
  for (Character last = last_character(text.substr(begin, end - begin));
       end < text.size() && begin < end && is_opening(last.code) && last.code != '"' &&
       last.code != '\'';
       last = last_character(text.substr(begin, end - begin)))
    end -= last.length;
  return end;
}

// Unicode's rules do not end a sentence at an ellipsis; before a capital it is taken for one.
void add_ellipses(std::string_view text, std::vector<std::size_t>& boundaries) {
  constexpr std::string_view kMark = "\xE2\x80\xA6";
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + kMark.size())) {
    const std::string_view rest = text.substr(at + kMark.size());
    const std::string_view next = without_spaces(rest);
    const std::string_view word = first_word(without_opening(next));
    if (next.size() == rest.size() || !is_upper_case(first_character(word).code)) continue;
    if (word != "I" && !word.starts_with("I'") && !word.starts_with("I\xE2\x80\x99"))
      boundaries.push_back(text.size() - next.size());
  }
}

// Puts sentences that are punctuation alone to the one before, or else to the one after.
std::vector<ByteRange> with_punctuation_joined(std::string_view text,
                                               const std::vector<ByteRange>& sentences) {
  std::vector<ByteRange> joined;
  for (const ByteRange& sentence : sentences) {
    const bool stray =
        !joined.empty() && (is_punctuation_only(part_of(text, sentence)) ||
                            (joined.size() == 1 && is_punctuation_only(part_of(text, joined[0]))));
    if (stray) {
      joined.back().end = sentence.end;
    } else {
      joined.push_back(sentence);
    }
  }
  return joined;
}

}  // namespace

std::vector<ByteRange> split_sentences(std::string_view text, std::string_view language) {
  BreakIterator iterator(BreakIterator::Kind::kSentence, language);
  std::vector<std::size_t> boundaries = iterator.boundaries(text);
  add_ellipses(text, boundaries);
  std::sort(boundaries.begin(), boundaries.end());

  std::vector<ByteRange> sentences;
  std::size_t begin = text.size() - without_spaces(text).size();
  for (const std::size_t suggested : boundaries) {
    const std::size_t end = before_opening(text, begin, suggested);
    const ByteRange range = trimmed(text, {begin, end});
    const Boundary boundary{
        .before = part_of(text, range), .after = text.substr(end), .spaced = range.end != end};
    if (range.begin == range.end ||
        (end != text.size() && !ends_sentence(boundary, iterator.language())))
      continue;
    sentences.push_back(range);
    begin = end;
  }
  return with_punctuation_joined(text, sentences);
}

}  // namespace sampan::text
