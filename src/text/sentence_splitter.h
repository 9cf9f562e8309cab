#pragma once

#include <string_view>
#include <vector>

#include "sampan/alignment.h"

namespace sampan::text {

/// Sentences of one line or paragraph of valid UTF-8, in order, as byte ranges without the white
/// space between them. Boundaries are those of Unicode Standard Annex 29, less those after
/// abbreviations, initials and list numbers, before a small letter, and, in scripts that put spaces
/// between words, where no space follows. Punctuation alone belongs to its neighbour. `language` is
/// an ISO 639 or BCP 47 code and may be empty. Thread-safe.
/// Throws `Error`: kResourceExhausted (text over 64 MiB), kInternal.
std::vector<ByteRange> split_sentences(std::string_view text, std::string_view language);

}  // namespace sampan::text
