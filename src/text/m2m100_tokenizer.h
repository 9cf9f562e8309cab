#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "text/piece_decoder.h"
#include "text/spm_model.h"
#include "text/tokenizer.h"
#include "text/tokenizer_config.h"
#include "text/vocabulary.h"

namespace sampan::text {

/// The tokenizer of M2M100 checkpoints (Fan et al. 2020): one SentencePiece model for all
/// languages, whose pieces vocab.json numbers; the languages' tokens are numbered behind it. A
/// source is its language's token, the pieces, and the end of sentence; the target's language is
/// the first token that is generated. Equal to M2M100Tokenizer of transformers 4.57 for text
/// without literal special tokens.
class M2M100Tokenizer final : public Tokenizer {
 public:
  /// Reads vocab.json, sentencepiece.bpe.model and tokenizer_config.json of `folder`.
  /// Throws `Error`: kNotFound, kInvalidData, kUnsupported.
  explicit M2M100Tokenizer(const std::filesystem::path& folder);

  std::vector<std::int64_t> encode(std::string_view text,
                                   std::string_view target_language) const override;
  std::vector<std::int64_t> encode_target(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> target_pieces(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> source_pieces(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> target_languages() const override;
  /// The token of the language; of tokenizer_config.json's tgt_lang where `target_language` is
  /// empty; nothing where that is empty too. Throws `Error` kInvalidArgument.
  std::optional<std::int64_t> forced_bos_token_id(std::string_view target_language) const override;
  std::optional<LanguageTag> language_tag(std::string_view) const override { return {}; }
  std::string_view source_language() const override { return config_.source_language; }
  std::string_view target_language() const override { return config_.target_language; }

 private:
  std::optional<std::int64_t> find_language(std::string_view code) const;
  /// Throws `Error` kInvalidArgument for a language that the model does not know.
  std::int64_t language_id(std::string_view code) const;
  std::string piece_of(std::int64_t id) const;

  TokenizerConfig config_;
  std::vector<std::string_view> languages_;  // in the order of their ids
  std::unique_ptr<const SpmModel> model_;
  std::unique_ptr<const PieceDecoder> decoder_;
  Vocabulary vocabulary_;
  std::int64_t first_language_id_ = 0;
  std::int64_t source_language_id_ = 0;
  std::int64_t end_id_ = 0;
  std::int64_t unknown_id_ = 0;
};

}  // namespace sampan::text
