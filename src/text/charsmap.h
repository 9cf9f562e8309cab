#pragma once

#include <string>
#include <string_view>

namespace sampan::text {

/// What is wrong with a SentencePiece character map (see `SpmNormalizer::charsmap`), as the end of
/// a sentence; empty if nothing: then no lookup of any text leaves the trie or the replacements.
std::string charsmap_problem(std::string_view charsmap);

}  // namespace sampan::text
