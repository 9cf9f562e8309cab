#include "text/marian_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "text/spm_file.h"

namespace sampan::text {
namespace {

using ModelPointer = std::unique_ptr<const SpmModel>;

std::shared_future<ModelPointer> load_model(std::launch policy, std::string bytes,
                                            const std::filesystem::path& path) {
  return std::async(policy,
                    [bytes = std::move(bytes), path]() -> ModelPointer {
                      return std::make_unique<const SpmModel>(bytes, path);
                    })
      .share();
}

void check_added_tokens(const TokenizerConfig& config, const Vocabulary& vocabulary) {
  for (const TokenizerConfig::AddedToken& token : config.added_tokens) {
    const std::optional<std::int64_t> id = vocabulary.find(token.content);
    if (id && *id != token.id)
      base::fail(ErrorCode::kInvalidData,
                 "{}: gives '{}' the id {}, but in the vocabulary it has {}; restore the original "
                 "file",
                 token.file, base::printable(token.content), token.id, *id);
  }
}

std::vector<std::string> languages_of(const Vocabulary& vocabulary) {
  std::vector<std::string> languages;
  vocabulary.for_each([&](std::string_view piece, std::int64_t) {
    if (is_language_tag(piece)) languages.emplace_back(piece.substr(2, piece.size() - 4));
  });
  std::sort(languages.begin(), languages.end());
  return languages;
}

void append_ids(std::vector<std::int64_t>& ids, const std::vector<std::string>& pieces,
                const Vocabulary& vocabulary, std::int64_t unknown_id) {
  ids.reserve(ids.size() + pieces.size() + 1);
  for (const std::string& piece : pieces)
    ids.push_back(vocabulary.find(piece).value_or(unknown_id));
}

std::vector<std::string> pieces_of(std::span<const std::int64_t> ids, const Vocabulary& vocabulary,
                                   const std::string& unknown_token) {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const std::int64_t id : ids) {
    const std::string_view piece = vocabulary.piece(id);
    pieces.emplace_back(piece.empty() ? unknown_token : piece);
  }
  return pieces;
}

}  // namespace

MarianTokenizer::MarianTokenizer(const std::filesystem::path& folder)
    : config_(read_tokenizer_config(folder, "MarianTokenizer")) {
  const auto path_of = [&](const char* name) { return base::contained_path(folder, name, folder); };
  std::string source = base::read_file(path_of("source.spm"), kMaxSpmBytes);
  parse_spm(source, path_of("source.spm"));
  source_model_ = load_model(std::launch::async | std::launch::deferred, std::move(source),
                             path_of("source.spm"));

  std::string target = base::read_file(path_of("target.spm"), kMaxSpmBytes);
  decoder_ = std::make_unique<PieceDecoder>(parse_spm(target, path_of("target.spm")));
  target_model_ = load_model(std::launch::deferred, std::move(target), path_of("target.spm"));

  const std::filesystem::path vocabulary_path = path_of("vocab.json");
  source_vocabulary_ = Vocabulary::read(vocabulary_path);
  end_id_ = id_of(source_vocabulary_, config_.end_token, vocabulary_path);
  source_unknown_id_ = id_of(source_vocabulary_, config_.unknown_token, vocabulary_path);
  target_unknown_id_ = source_unknown_id_;
  id_of(source_vocabulary_, config_.pad_token, vocabulary_path);
  check_added_tokens(config_, source_vocabulary_);
  for (const std::string& token : config_.special_tokens)
    if (const auto id = source_vocabulary_.find(token)) special_ids_.insert(*id);
  target_languages_ = languages_of(source_vocabulary_);
  if (config_.separate_vocabs) {
    const std::filesystem::path target_path = path_of("target_vocab.json");
    own_target_vocabulary_ = Vocabulary::read(target_path);
    target_unknown_id_ = id_of(*own_target_vocabulary_, config_.unknown_token, target_path);
  }
}

const Vocabulary& MarianTokenizer::target_vocabulary() const {
  return own_target_vocabulary_ ? *own_target_vocabulary_ : source_vocabulary_;
}

std::vector<std::int64_t> MarianTokenizer::encode(std::string_view text,
                                                  std::string_view target_language) const {
  std::vector<std::int64_t> ids;
  if (!target_language.empty()) {
    const auto id = source_vocabulary_.find(">>" + std::string(target_language) + "<<");
    if (!id)
      base::fail(ErrorCode::kInvalidArgument, "target language '{}': this model {}",
                 base::printable(target_language),
                 target_languages_.empty()
                     ? std::string("has one target language; leave the option out")
                     : fmt::format("knows {}", fmt::join(target_languages_, ", ")));
    ids.push_back(*id);
  } else if (const std::optional<LanguageTag> tag = language_tag(text)) {
    ids.push_back(source_vocabulary_.find(text.substr(0, tag->length)).value());
    text.remove_prefix(tag->length);
  }
  append_ids(ids, source_model_.get()->encode(text), source_vocabulary_, source_unknown_id_);
  ids.push_back(end_id_);
  return ids;
}

std::vector<std::int64_t> MarianTokenizer::encode_target(std::string_view text) const {
  std::vector<std::int64_t> ids;
  if (text.empty()) return ids;  // most calls have no prefix: target.spm need not be prepared
  append_ids(ids, target_model_.get()->encode(text), target_vocabulary(), target_unknown_id_);
  return ids;
}

// transformers leaves out what has the id of a special token in the source vocabulary, even with a
// target vocabulary of its own, and then what is spelled like one.
std::string MarianTokenizer::decode(std::span<const std::int64_t> ids) const {
  const Vocabulary& vocabulary = target_vocabulary();
  std::vector<std::string_view> pieces;
  pieces.reserve(ids.size());
  for (const std::int64_t id : ids) {
    const std::string_view piece = vocabulary.piece(id);
    if (piece.empty() || special_ids_.contains(id) ||
        config_.special_tokens.contains(std::string(piece)))
      continue;
    pieces.push_back(piece);
  }
  std::string text = decoder_->decode(pieces);
  return config_.clean_up_spaces ? clean_up_spaces(std::move(text)) : text;
}

std::vector<std::string> MarianTokenizer::target_pieces(std::span<const std::int64_t> ids) const {
  return pieces_of(ids, target_vocabulary(), config_.unknown_token);
}

std::vector<std::string> MarianTokenizer::source_pieces(std::span<const std::int64_t> ids) const {
  return pieces_of(ids, source_vocabulary_, config_.unknown_token);
}

std::optional<LanguageTag> MarianTokenizer::language_tag(std::string_view text) const {
  if (target_languages_.empty() || !text.starts_with(">>")) return std::nullopt;
  const std::size_t end = text.find("<<");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view tag = text.substr(0, end + 2);
  if (!is_language_tag(tag) || !source_vocabulary_.find(tag)) return std::nullopt;
  return LanguageTag{.code = tag.substr(2, end - 2), .length = tag.size()};
}

}  // namespace sampan::text
