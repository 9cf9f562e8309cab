#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/spm_file.h"

namespace sampan::text {

/// Puts pieces together to text as SentencePiece's Decode does, without loading the model: only
/// pieces of a special kind need it. Immutable and thread-safe once made.
class PieceDecoder {
 public:
  explicit PieceDecoder(const SpmFile& file);

  /// Text of `pieces`, with every `▁` a space and no space or other white space at either end.
  /// Control pieces are left out, byte pieces become the characters that they spell, one U+FFFD for
  /// each byte that belongs to none.
  std::string decode(std::span<const std::string_view> pieces) const;

 private:
  struct SpecialPiece {
    SpmPiece::Type type = SpmPiece::Type::kControl;
    char byte = '\0';
  };

  std::unordered_map<std::string, SpecialPiece> special_pieces_;
  std::string unknown_surface_;
};

/// Takes spaces before punctuation and before English contractions away, as transformers'
/// `clean_up_tokenization_spaces` does.
std::string clean_up_spaces(std::string text);

}  // namespace sampan::text
