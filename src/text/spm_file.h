#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// Longest SentencePiece file that is read; real ones weigh 0.2 to 5 MB.
inline constexpr std::size_t kMaxSpmBytes = std::size_t{64} << 20;

struct SpmPiece {
  enum class Type { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

  std::string_view text;
  float score = 0.0F;  ///< natural logarithm of the piece's probability
  Type type = Type::kNormal;
};

/// How text is rewritten before it is cut into pieces.
struct SpmNormalizer {
  std::string_view name;
  /// Little-endian uint32 size of a double-array trie, the trie (which maps UTF-8 prefixes to
  /// offsets), then the replacements, each ended by a NUL; empty: characters stay as they are.
  std::string_view charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// What a SentencePiece model file says, read without the library.
struct SpmFile {
  enum class Algorithm { kUnigram = 1, kBpe, kWord, kCharacter };

  std::vector<SpmPiece> pieces;  ///< in the order of SentencePiece's own ids
  Algorithm algorithm = Algorithm::kUnigram;
  SpmNormalizer normalizer;
  std::string_view denormalizer_charsmap;
  bool treat_whitespace_as_suffix = false;
  bool byte_fallback = false;
  std::string_view unknown_surface = " \xE2\x81\x87 ";  ///< what the unknown piece decodes to
};

/// Reads the protocol buffer (sentencepiece_model.proto of SentencePiece) in `bytes`, which the
/// result views into, and checks everything that libsentencepiece takes on trust: pieces that are
/// UTF-8 of sane length without NUL, finite scores, tries and replacements that stay inside their
/// table. `path` is named in errors. Throws `Error`: kInvalidData, kUnsupported (word and character
/// models, denormalisation).
SpmFile parse_spm(std::string_view bytes, const std::filesystem::path& path);

}  // namespace sampan::text
