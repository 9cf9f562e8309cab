#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// Boundaries in text after Unicode Standard Annex 29, with ICU's rules and dictionaries of a
/// language. For one thread at a time.
class BreakIterator {
 public:
  enum class Kind { kSentence, kWord };

  /// `language` is an ISO 639 or BCP 47 code; unknown and empty ones get Unicode's general rules.
  BreakIterator(Kind kind, std::string_view language);
  ~BreakIterator();
  BreakIterator(const BreakIterator&) = delete;
  BreakIterator& operator=(const BreakIterator&) = delete;

  /// ISO 639 code of the language, the shortest that there is: "en" for "eng"; may be empty.
  const std::string& language() const;
  /// Byte offsets in valid UTF-8, in order: the end of every sentence or word, text.size() the
  /// last. Throws `Error`: kResourceExhausted (text over 64 MiB), kInternal.
  std::vector<std::size_t> boundaries(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sampan::text
