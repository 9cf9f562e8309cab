#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// A target language written in front of a text, as in ">>cmn_Hans<< Hello.".
struct LanguageTag {
  std::string_view code;   ///< "cmn_Hans"
  std::size_t length = 0;  ///< bytes of the whole tag, brackets included
};

/// Text to model ids and back. Immutable and thread-safe once made.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids of a source sentence, special tokens included. `text` is valid UTF-8; literal special
  /// tokens in it are plain text. `target_language` is one of `target_languages()` or empty; where
  /// it is empty, a `language_tag` of the text stands for it. Throws `Error`: kInvalidArgument
  /// (unknown language), kResourceExhausted (text over 64 MiB).
  virtual std::vector<std::int64_t> encode(std::string_view text,
                                           std::string_view target_language) const = 0;
  /// Ids of target text (a forced prefix, a translation to score) without any special token.
  virtual std::vector<std::int64_t> encode_target(std::string_view text) const = 0;
  /// Text of target ids; special tokens and ids outside the vocabulary are left out.
  virtual std::string decode(std::span<const std::int64_t> ids) const = 0;
  /// The pieces of target ids, as the vocabulary spells them (`▁` marks a space).
  virtual std::vector<std::string> target_pieces(std::span<const std::int64_t> ids) const = 0;
  virtual std::vector<std::string> source_pieces(std::span<const std::int64_t> ids) const = 0;

  /// Language codes that may be asked for, without brackets, sorted; empty: the model has one
  /// target.
  virtual std::vector<std::string> target_languages() const = 0;
  /// First generated token that this language forces (M2M100 and its kin); nothing for Marian.
  virtual std::optional<std::int64_t> forced_bos_token_id(
      std::string_view target_language) const = 0;
  /// The tag at the very start of `text`, if the vocabulary knows it; its code views into `text`.
  virtual std::optional<LanguageTag> language_tag(std::string_view text) const = 0;

  /// Languages of the model as its tokenizer_config.json names them ("eng", "zho"); may be empty.
  virtual std::string_view source_language() const = 0;
  virtual std::string_view target_language() const = 0;
};

/// Opens the tokenizer of a checkpoint or package folder. `model_type` is config.json's.
/// Throws `Error`: kNotFound, kInvalidData, kUnsupported.
std::unique_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& folder,
                                                std::string_view model_type);

}  // namespace sampan::text
