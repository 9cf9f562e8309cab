#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// Pieces and their ids, as a vocab.json lists them. Ids may have gaps. Immutable and thread-safe.
class Vocabulary {
 public:
  /// Reads a JSON object of piece to id. `path` is named in errors. Throws `Error` kInvalidData:
  /// not such an object, an id that is negative, given twice, or not below the text's length in
  /// bytes, a piece given twice.
  static Vocabulary parse(std::string_view json, const std::filesystem::path& path);
  /// Reads a vocab.json. Throws `Error` as `parse` and `base::read_file` do.
  static Vocabulary read(const std::filesystem::path& path);

  std::size_t size() const noexcept { return entries_.size(); }
  /// One more than the largest id.
  std::int64_t id_limit() const noexcept { return static_cast<std::int64_t>(by_id_.size()); }

  std::optional<std::int64_t> find(std::string_view piece) const noexcept;
  /// The piece of an id; empty if no piece has it.
  std::string_view piece(std::int64_t id) const noexcept;

  /// Calls `visit(piece, id)` for every entry, in the file's order.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const Entry& entry : entries_) visit(text_of(entry), std::int64_t{entry.id});
  }

 private:
  friend class VocabularyBuilder;

  struct Entry {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t id = 0;
  };

  std::string_view text_of(const Entry& entry) const {
    return std::string_view(letters_).substr(entry.offset, entry.length);
  }
  std::size_t slot_of(std::string_view piece) const noexcept;

  std::string letters_;               // all pieces, one after the other
  std::vector<Entry> entries_;        // in the file's order
  std::vector<std::uint32_t> slots_;  // open addressing by hash of the piece: entry + 1, 0 is free
  std::vector<std::uint32_t> by_id_;  // id to entry + 1, 0 where there is none
};

/// The id of a special token. Throws `Error` kInvalidData, naming `path`, if there is none.
std::int64_t id_of(const Vocabulary& vocabulary, std::string_view token,
                   const std::filesystem::path& path);
/// Whether a piece is a language tag such as ">>cmn_Hans<<".
bool is_language_tag(std::string_view piece);

}  // namespace sampan::text
