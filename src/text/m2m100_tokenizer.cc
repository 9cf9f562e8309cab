#include "text/m2m100_tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "text/spm_file.h"

namespace sampan::text {
namespace {

// The languages of the published models, in the order of their tokens' ids.
constexpr std::array<std::string_view, 100> kM2M100Languages = {
    "af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br",  "bs", "ca", "ceb", "cs", "cy",
    "da", "de", "el", "en",  "es", "et", "fa", "ff", "fi", "fr",  "fy", "ga", "gd",  "gl", "gu",
    "ha", "he", "hi", "hr",  "ht", "hu", "hy", "id", "ig", "ilo", "is", "it", "ja",  "jv", "ka",
    "kk", "km", "kn", "ko",  "lb", "lg", "ln", "lo", "lt", "lv",  "mg", "mk", "ml",  "mn", "mr",
    "ms", "my", "ne", "nl",  "no", "ns", "oc", "or", "pa", "pl",  "ps", "pt", "ro",  "ru", "sd",
    "si", "sk", "sl", "so",  "sq", "sr", "ss", "su", "sv", "sw",  "ta", "th", "tl",  "tn", "tr",
    "uk", "ur", "uz", "vi",  "wo", "xh", "yi", "yo", "zh", "zu",
};
constexpr std::array<std::string_view, 8> kWmt21Languages = {"en", "ha", "is", "ja",
                                                             "cs", "ru", "zh", "de"};

std::vector<std::string_view> languages_named(std::string_view name,
                                              const std::filesystem::path& folder) {
  if (name.empty() || name == "m2m100") return {kM2M100Languages.begin(), kM2M100Languages.end()};
  if (name == "wmt21") return {kWmt21Languages.begin(), kWmt21Languages.end()};
  base::fail(ErrorCode::kUnsupported,
             "{}: language_codes '{}' of tokenizer_config.json is not known; m2m100 and wmt21 are",
             folder.string(), base::printable(name));
}

}  // namespace

M2M100Tokenizer::M2M100Tokenizer(const std::filesystem::path& folder)
    : config_(read_tokenizer_config(folder, "M2M100Tokenizer")),
      languages_(languages_named(config_.language_codes, folder)) {
  const auto path_of = [&](const char* name) { return base::contained_path(folder, name, folder); };
  const std::filesystem::path model_path = path_of("sentencepiece.bpe.model");
  const std::string model = base::read_file(model_path, kMaxSpmBytes);
  decoder_ = std::make_unique<PieceDecoder>(parse_spm(model, model_path));
  model_ = std::make_unique<const SpmModel>(model, model_path);

  const std::filesystem::path vocabulary_path = path_of("vocab.json");
  vocabulary_ = Vocabulary::read(vocabulary_path);
  end_id_ = id_of(vocabulary_, config_.end_token, vocabulary_path);
  unknown_id_ = id_of(vocabulary_, config_.unknown_token, vocabulary_path);
  first_language_id_ = static_cast<std::int64_t>(vocabulary_.size());
  if (config_.source_language.empty()) config_.source_language = "en";
  for (const std::string& code : {config_.source_language, config_.target_language})
    if (!code.empty() && !find_language(code))
      base::fail(ErrorCode::kInvalidData,
                 "{}: language '{}' is not one of the model's; correct src_lang and tgt_lang",
                 path_of("tokenizer_config.json").string(), base::printable(code));
  source_language_id_ = language_id(config_.source_language);
  config_.special_tokens.insert("<s>");
}

std::optional<std::int64_t> M2M100Tokenizer::find_language(std::string_view code) const {
  const auto place = std::find(languages_.begin(), languages_.end(), code);
  if (place == languages_.end()) return std::nullopt;
  return first_language_id_ + (place - languages_.begin());
}

std::int64_t M2M100Tokenizer::language_id(std::string_view code) const {
  if (const auto id = find_language(code)) return *id;
  base::fail(ErrorCode::kInvalidArgument, "target language '{}': this model knows {}",
             base::printable(code), fmt::join(languages_, ", "));
}

std::vector<std::int64_t> M2M100Tokenizer::encode(std::string_view text,
                                                  std::string_view target_language) const {
  if (!target_language.empty()) language_id(target_language);
  std::vector<std::int64_t> ids = {source_language_id_};
  const std::vector<std::int64_t> pieces = encode_target(text);
  ids.insert(ids.end(), pieces.begin(), pieces.end());
  ids.push_back(end_id_);
  return ids;
}

std::vector<std::int64_t> M2M100Tokenizer::encode_target(std::string_view text) const {
  std::vector<std::int64_t> ids;
  for (const std::string& piece : model_->encode(text))
    ids.push_back(vocabulary_.find(piece).value_or(unknown_id_));
  return ids;
}

std::string M2M100Tokenizer::decode(std::span<const std::int64_t> ids) const {
  std::vector<std::string_view> pieces;
  for (const std::int64_t id : ids) {
    const std::string_view piece = vocabulary_.piece(id);
    if (!piece.empty() && !config_.special_tokens.contains(std::string(piece)))
      pieces.push_back(piece);
  }
  std::string text = decoder_->decode(pieces);
  return config_.clean_up_spaces ? clean_up_spaces(std::move(text)) : text;
}

std::string M2M100Tokenizer::piece_of(std::int64_t id) const {
  const std::int64_t language = id - first_language_id_;
  if (language >= 0 && language < static_cast<std::int64_t>(languages_.size()))
    return fmt::format("__{}__", languages_[static_cast<std::size_t>(language)]);
  const std::string_view piece = vocabulary_.piece(id);
  return piece.empty() ? config_.unknown_token : std::string(piece);
}

std::vector<std::string> M2M100Tokenizer::target_pieces(std::span<const std::int64_t> ids) const {
  std::vector<std::string> pieces;
  for (const std::int64_t id : ids) pieces.push_back(piece_of(id));
  return pieces;
}

std::vector<std::string> M2M100Tokenizer::source_pieces(std::span<const std::int64_t> ids) const {
  return target_pieces(ids);
}

std::vector<std::string> M2M100Tokenizer::target_languages() const {
  std::vector<std::string> sorted(languages_.begin(), languages_.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::optional<std::int64_t> M2M100Tokenizer::forced_bos_token_id(
    std::string_view target_language) const {
  if (target_language.empty()) target_language = config_.target_language;
  if (target_language.empty()) return std::nullopt;
  return language_id(target_language);
}

}  // namespace sampan::text
