#pragma once

#include <string_view>

namespace sampan::text {

/// What a full stop after a word may mean.
enum class AbbreviationKind {
  kNone,          ///< no abbreviation: the full stop ends the sentence
  kNeverEnds,     ///< "Dr.", "e.g.": something follows
  kBeforeNumber,  ///< "No.", "Jan.": goes on before a digit
  kMayEnd,        ///< "etc.", "U.S.": ends where a word that often begins a sentence follows
};

/// Kind of `word`, given without its last full stop and as it is written ("e.g", "Dr"). Dotted
/// letters ("U.S", "Ph.D") and single capitals ("J") count as abbreviations of every language; the
/// words listed are English ones, with a few of other languages that mean nothing else in English.
AbbreviationKind abbreviation_kind(std::string_view word);

/// Whether a capitalised English `word` often begins a sentence ("The", "He", "In").
bool often_begins_sentence(std::string_view word);

}  // namespace sampan::text
