#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "text/piece_decoder.h"
#include "text/spm_model.h"
#include "text/tokenizer.h"
#include "text/tokenizer_config.h"
#include "text/vocabulary.h"

namespace sampan::text {

/// The tokenizer of MarianMT checkpoints: source.spm or target.spm cuts text into pieces,
/// vocab.json (target_vocab.json with `separate_vocabs`) gives their ids. Equal to MarianTokenizer
/// of transformers 4.57 with `split_special_tokens`; docs/tokenizer.md lists what differs.
class MarianTokenizer final : public Tokenizer {
 public:
  /// Reads and checks all files of `folder`. SentencePiece's own preparation of source.spm goes on
  /// beside the caller; the first `encode` waits for it. That of target.spm waits for the first
  /// `encode_target`. Throws `Error`: kNotFound, kInvalidData, kUnsupported.
  explicit MarianTokenizer(const std::filesystem::path& folder);

  std::vector<std::int64_t> encode(std::string_view text,
                                   std::string_view target_language) const override;
  std::vector<std::int64_t> encode_target(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> target_pieces(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> source_pieces(std::span<const std::int64_t> ids) const override;
  std::vector<std::string> target_languages() const override { return target_languages_; }
  std::optional<std::int64_t> forced_bos_token_id(std::string_view) const override { return {}; }
  std::optional<LanguageTag> language_tag(std::string_view text) const override;
  std::string_view source_language() const override { return config_.source_language; }
  std::string_view target_language() const override { return config_.target_language; }

 private:
  using SharedModel = std::shared_future<std::unique_ptr<const SpmModel>>;

  const Vocabulary& target_vocabulary() const;

  TokenizerConfig config_;
  SharedModel source_model_;
  SharedModel target_model_;
  std::unique_ptr<const PieceDecoder> decoder_;
  Vocabulary source_vocabulary_;
  std::optional<Vocabulary> own_target_vocabulary_;  // with separate_vocabs
  std::int64_t end_id_ = 0;
  std::int64_t source_unknown_id_ = 0;
  std::int64_t target_unknown_id_ = 0;
  std::set<std::int64_t> special_ids_;
  std::vector<std::string> target_languages_;
};

}  // namespace sampan::text
