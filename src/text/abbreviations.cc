#include "text/abbreviations.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/characters.h"

namespace sampan::text {
namespace {

using std::string_view_literals::operator""sv;

// Sorted, in lower case.
constexpr std::array kNeverEnds = {
    "adm"sv, "approx"sv, "ca"sv,  "capt"sv, "cf"sv,     "cmdr"sv, "col"sv, "dr"sv,
    "drs"sv, "e.g"sv,    "eg"sv,  "esp"sv,  "fr"sv,     "gen"sv,  "gov"sv, "hon"sv,
    "i.e"sv, "ie"sv,     "lt"sv,  "maj"sv,  "messrs"sv, "mlle"sv, "mme"sv, "mr"sv,
    "mrs"sv, "ms"sv,     "mt"sv,  "mx"sv,   "pres"sv,   "prof"sv, "rep"sv, "rev"sv,
    "sen"sv, "sgt"sv,    "sra"sv, "ste"sv,  "supt"sv,   "viz"sv,  "vs"sv,  "z.b"sv};
constexpr std::array kBeforeNumber = {
    "apr"sv,  "art"sv,   "aug"sv,  "ch"sv,   "chap"sv, "dec"sv,  "eq"sv,  "eqs"sv,
    "feb"sv,  "fig"sv,   "figs"sv, "fri"sv,  "jan"sv,  "jul"sv,  "jun"sv, "mar"sv,
    "mon"sv,  "no"sv,    "nos"sv,  "nov"sv,  "nr"sv,   "oct"sv,  "op"sv,  "p"sv,
    "par"sv,  "pg"sv,    "pp"sv,   "sec"sv,  "sep"sv,  "sept"sv, "tab"sv, "thu"sv,
    "thur"sv, "thurs"sv, "tue"sv,  "tues"sv, "vol"sv,  "vols"sv, "wed"sv};
constexpr std::array kMayEnd = {"a.m"sv,  "al"sv,   "assn"sv, "ave"sv, "blvd"sv, "bros"sv, "co"sv,
                                "corp"sv, "dept"sv, "est"sv,  "etc"sv, "ft"sv,   "hr"sv,   "hrs"sv,
                                "inc"sv,  "jr"sv,   "lb"sv,   "lbs"sv, "ltd"sv,  "min"sv,  "oz"sv,
                                "p.m"sv,  "rd"sv,   "sr"sv,   "st"sv,  "tel"sv,  "univ"sv, "usw"sv};
constexpr std::array kSentenceStarts = {
    "a"sv,     "after"sv,   "all"sv,    "although"sv, "an"sv,      "and"sv,   "are"sv,   "as"sv,
    "at"sv,    "because"sv, "before"sv, "but"sv,      "by"sv,      "can"sv,   "could"sv, "did"sv,
    "do"sv,    "does"sv,    "don't"sv,  "during"sv,   "for"sv,     "from"sv,  "have"sv,  "he"sv,
    "her"sv,   "here"sv,    "his"sv,    "how"sv,      "however"sv, "i"sv,     "i'll"sv,  "i'm"sv,
    "i've"sv,  "if"sv,      "in"sv,     "is"sv,       "it"sv,      "it's"sv,  "its"sv,   "let's"sv,
    "many"sv,  "may"sv,     "most"sv,   "my"sv,       "no"sv,      "not"sv,   "now"sv,   "on"sv,
    "one"sv,   "our"sv,     "please"sv, "she"sv,      "since"sv,   "so"sv,    "some"sv,  "that"sv,
    "the"sv,   "their"sv,   "then"sv,   "there"sv,    "these"sv,   "they"sv,  "this"sv,  "those"sv,
    "to"sv,    "was"sv,     "we"sv,     "were"sv,     "what"sv,    "when"sv,  "where"sv, "which"sv,
    "while"sv, "who"sv,     "why"sv,    "will"sv,     "with"sv,    "would"sv, "yes"sv,   "yet"sv,
    "you"sv,   "your"sv};

static_assert(std::is_sorted(kNeverEnds.begin(), kNeverEnds.end()));
static_assert(std::is_sorted(kBeforeNumber.begin(), kBeforeNumber.end()));
static_assert(std::is_sorted(kMayEnd.begin(), kMayEnd.end()));
static_assert(std::is_sorted(kSentenceStarts.begin(), kSentenceStarts.end()));

template <typename Words>
bool lists(const Words& words, std::string_view word) {
  return std::binary_search(words.begin(), words.end(), word);
}

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// "J", "U.S", "Ph.D": letters in groups of one or two, the last of one, all but it followed by a
// full stop.
bool is_dotted_letters(std::string_view word) {
  std::size_t letters = 0;
  while (!word.empty()) {
    const Character character = first_character(word);
    word.remove_prefix(character.length);
    if (is_letter(character.code)) {
      if (is_unspaced(character.code) || ++letters > 2) return false;
    } else if (character.code == '.' && letters > 0) {
      letters = 0;
    } else {
      return false;
    }
  }
  return letters == 1;
}

}  // namespace

AbbreviationKind abbreviation_kind(std::string_view word) {
  const std::string lower = lower_case(word);
  if (lists(kNeverEnds, lower)) return AbbreviationKind::kNeverEnds;
  if (lists(kBeforeNumber, lower)) return AbbreviationKind::kBeforeNumber;
  if (lists(kMayEnd, lower)) return AbbreviationKind::kMayEnd;
  const bool single = first_character(word).length == word.size();
  if (is_dotted_letters(word) && (!single || is_upper_case(first_character(word).code)))
    return AbbreviationKind::kMayEnd;
  return AbbreviationKind::kNone;
}

bool often_begins_sentence(std::string_view word) {
  return lists(kSentenceStarts, lower_case(word));
}

}  // namespace sampan::text
