#include "text/spm_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/utf8.h"
#include "text/charsmap.h"

namespace sampan::text {
namespace {

constexpr std::size_t kMaxPieceBytes = 1024;

// `parse_spm` puts the file's name before it.
template <typename... Args>
[[noreturn]] void malformed(fmt::format_string<Args...> message, Args&&... args) {
  base::fail(ErrorCode::kInvalidData, message, std::forward<Args>(args)...);
}

// One field of a protocol buffer message: its number and the value in the form its wire type has.
struct Field {
  enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  std::uint32_t number = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t value = 0;  // of kVarint and the fixed ones
  std::string_view bytes;   // of kBytes
};

// Walks through the fields of one message (protobuf.dev, "Encoding").
class FieldWalker {
 public:
  explicit FieldWalker(std::string_view message) : rest_(message) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    const auto wire = static_cast<unsigned>(tag & 7);
    if (tag >> 32 != 0 || tag >> 3 == 0) malformed("not a SentencePiece model (field tag {})", tag);
    field = Field();
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.wire = static_cast<Field::Wire>(wire);
    switch (field.wire) {
      case Field::Wire::kVarint:
        field.value = varint();
        break;
      case Field::Wire::kFixed64:
        field.value = fixed(8);
        break;
      case Field::Wire::kBytes:
        field.bytes = take(varint());
        break;
      case Field::Wire::kFixed32:
        field.value = fixed(4);
        break;
      default:
        malformed("not a SentencePiece model (wire type {} of field {})", wire, field.number);
    }
    return true;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    malformed("not a SentencePiece model (a number of more than 10 bytes)");
  }

  std::uint64_t fixed(std::size_t size) {
    const std::string_view bytes = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[i])) << (8 * i);
    return value;
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size())
      malformed("truncated: a field of {} bytes where {} are left", size, rest_.size());
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

std::string_view text_value(const Field& field, const char* what) {
  if (field.wire != Field::Wire::kBytes) malformed("{} is not text", what);
  return field.bytes;
}

std::uint64_t integer_value(const Field& field, const char* what) {
  if (field.wire != Field::Wire::kVarint) malformed("{} is not an integer", what);
  return field.value;
}

SpmPiece read_piece(std::string_view message, std::size_t id) {
  SpmPiece piece;
  FieldWalker walker(message);
  for (Field field; walker.next(field);) {
    if (field.number == 1) {
      piece.text = text_value(field, "a piece");
    } else if (field.number == 2) {
      if (field.wire != Field::Wire::kFixed32) malformed("the score of piece {} is no float", id);
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    } else if (field.number == 3) {
      const std::uint64_t type = integer_value(field, "a piece's type");
      if (type < 1 || type > 6) malformed("piece {} has the unknown type {}", id, type);
      piece.type = static_cast<SpmPiece::Type>(type);
    }
  }
  if (piece.text.empty()) malformed("piece {} is empty", id);
  if (piece.text.size() > kMaxPieceBytes)
    malformed("piece {} is {} bytes long, over {}", id, piece.text.size(), kMaxPieceBytes);
  if (piece.text.find('\0') != std::string_view::npos ||
      base::valid_utf8_length(piece.text) != piece.text.size())
    malformed("piece {} is not text in UTF-8", id);
  if (!std::isfinite(piece.score)) malformed("the score of piece {} is not a finite number", id);
  return piece;
}

void read_trainer_spec(std::string_view message, SpmFile& file) {
  FieldWalker walker(message);
  for (Field field; walker.next(field);) {
    if (field.number == 3) {
      const std::uint64_t type = integer_value(field, "model_type");
      if (type < 1 || type > 4) malformed("unknown model_type {}", type);
      file.algorithm = static_cast<SpmFile::Algorithm>(type);
    } else if (field.number == 24) {
      file.treat_whitespace_as_suffix = integer_value(field, "treat_whitespace_as_suffix") != 0;
    } else if (field.number == 35) {
      file.byte_fallback = integer_value(field, "byte_fallback") != 0;
    } else if (field.number == 44) {
      file.unknown_surface = text_value(field, "unk_surface");
    }
  }
}

void read_normalizer(std::string_view message, SpmNormalizer& normalizer) {
  FieldWalker walker(message);
  for (Field field; walker.next(field);) {
    if (field.number == 1) {
      normalizer.name = text_value(field, "the normaliser's name");
    } else if (field.number == 2) {
      normalizer.charsmap = text_value(field, "precompiled_charsmap");
    } else if (field.number == 3) {
      normalizer.add_dummy_prefix = integer_value(field, "add_dummy_prefix") != 0;
    } else if (field.number == 4) {
      normalizer.remove_extra_whitespaces = integer_value(field, "remove_extra_whitespaces") != 0;
    } else if (field.number == 5) {
      normalizer.escape_whitespaces = integer_value(field, "escape_whitespaces") != 0;
    }
  }
}

void check(const SpmFile& file) {
  std::size_t unknown = 0;
  for (const SpmPiece& piece : file.pieces) unknown += piece.type == SpmPiece::Type::kUnknown;
  if (unknown != 1) malformed("has {} unknown pieces where there must be one", unknown);
  if (const std::string problem = charsmap_problem(file.normalizer.charsmap); !problem.empty())
    malformed("precompiled_charsmap {}", problem);
  if (file.algorithm == SpmFile::Algorithm::kWord ||
      file.algorithm == SpmFile::Algorithm::kCharacter)
    base::fail(ErrorCode::kUnsupported, "is a word or character model, not unigram or BPE");
  if (!file.denormalizer_charsmap.empty())
    base::fail(ErrorCode::kUnsupported, "rewrites its output (denormalizer_spec)");
}

SpmFile read_model(std::string_view message) {
  SpmFile file;
  FieldWalker walker(message);
  for (Field field; walker.next(field);) {
    if (field.number == 1) {
      file.pieces.push_back(read_piece(text_value(field, "a piece"), file.pieces.size()));
    } else if (field.number == 2) {
      read_trainer_spec(text_value(field, "trainer_spec"), file);
    } else if (field.number == 3) {
      read_normalizer(text_value(field, "normalizer_spec"), file.normalizer);
    } else if (field.number == 5) {
      SpmNormalizer denormalizer;
      read_normalizer(text_value(field, "denormalizer_spec"), denormalizer);
      if (!denormalizer.charsmap.empty()) file.denormalizer_charsmap = denormalizer.charsmap;
    }
  }
  check(file);
  return file;
}

}  // namespace

SpmFile parse_spm(std::string_view bytes, const std::filesystem::path& path) {
  base::refuse_foreign_content(std::as_bytes(std::span(bytes)), path);
  try {
    return read_model(bytes);
  } catch (const Error& error) {
    base::fail(error.code(), "{}: {}; take the .spm file of a Marian checkpoint", path.string(),
               error.what());
  }
}

}  // namespace sampan::text
