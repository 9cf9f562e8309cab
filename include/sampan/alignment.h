#pragma once

#include <cstddef>

namespace sampan {

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// A sentence of the source text and what became of it.
struct SentenceAlignment {
  ByteRange source;
  ByteRange target;

  friend bool operator==(const SentenceAlignment&, const SentenceAlignment&) = default;
};

}  // namespace sampan
