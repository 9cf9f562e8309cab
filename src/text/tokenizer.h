#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// Text to model ids and back. Immutable and thread-safe once made.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids of a source sentence, special tokens included. `text` is valid UTF-8; literal special
  /// tokens in it are plain text. `target_language` is a code that `has_target_language` knows, or
  /// empty.
  virtual std::vector<std::int64_t> encode(std::string_view text,
                                           std::string_view target_language) const = 0;
  /// Text of target ids; special tokens are left out.
  virtual std::string decode(std::span<const std::int64_t> ids) const = 0;
  /// The pieces of target ids, as the vocabulary spells them (`▁` marks a space).
  virtual std::vector<std::string> target_pieces(std::span<const std::int64_t> ids) const = 0;
  virtual std::vector<std::string> source_pieces(std::span<const std::int64_t> ids) const = 0;

  /// Language codes that may be asked for, without brackets, sorted; empty: the model has one target.
  virtual std::vector<std::string> target_languages() const = 0;
  /// First generated token that this language forces (M2M100 and its kin); nothing for Marian.
  virtual std::optional<std::int64_t> forced_bos_token_id(std::string_view target_language) const = 0;
};

/// Opens the tokenizer of a checkpoint or package folder. `model_type` is config.json's.
/// Throws `Error`: kNotFound, kInvalidData, kUnsupported.
std::unique_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& folder,
                                                std::string_view model_type);

}  // namespace sampan::text
