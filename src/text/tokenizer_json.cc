#include "text/tokenizer_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "text/characters.h"
#include "text/spm_file.h"
#include "text/tokenizer_config.h"
#include "text/vocabulary.h"

namespace sampan::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    const std::size_t digits = std::min<std::size_t>(bytes.size() - i, 3) + 1;
    for (std::size_t j = 0; j < 4; ++j)
      text += j < digits ? kDigits[group >> (18 - 6 * j) & 63U] : '=';
  }
  return text;
}

void refuse(const std::filesystem::path& folder, const char* reason) {
  base::fail(ErrorCode::kUnsupported, "{}: no tokenizer.json can say {}; leave it out",
             folder.string(), reason);
}

void check_expressible(const std::filesystem::path& folder, const TokenizerConfig& config,
                       const SpmFile& source) {
  if (config.separate_vocabs) refuse(folder, "that source and target have a vocabulary each");
  if (source.algorithm != SpmFile::Algorithm::kUnigram)
    refuse(folder, "what a source.spm other than a unigram model does");
  if (source.byte_fallback) refuse(folder, "that source.spm spells unknown characters in bytes");
  if (source.treat_whitespace_as_suffix || !source.normalizer.escape_whitespaces)
    refuse(folder, "how source.spm treats white space");
  for (const SpmPiece& piece : source.pieces)
    if (piece.type == SpmPiece::Type::kUserDefined)
      refuse(folder, "that source.spm always keeps pieces of its own whole");
}

using Scores = std::unordered_map<std::string_view, float>;

Scores scores_of(const SpmFile& source) {
  Scores scores;
  for (const SpmPiece& piece : source.pieces)
    if (piece.type == SpmPiece::Type::kNormal) scores.emplace(piece.text, piece.score);
  return scores;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text).length)) ++count;
  return count;
}

// A score below that of any way to cut a piece's characters into pieces of source.spm, so that no
// best path takes it. What is unknown scores 10 less than the lowest of all: it still comes last.
double unreachable_score(const Vocabulary& vocabulary, const Scores& scores) {
  float lowest = -1.0F;
  for (const auto& [piece, score] : scores) lowest = std::min(lowest, score);
  std::size_t longest = 1;
  vocabulary.for_each([&](std::string_view piece, std::int64_t) {
    if (!scores.contains(piece)) longest = std::max(longest, count_characters(piece));
  });
  return std::floor(static_cast<double>(lowest)) * static_cast<double>(longest + 1);
}

// Entries at their ids; a name that is not in the vocabulary stands at an id that it leaves out.
Json unigram_vocabulary(const Vocabulary& vocabulary, const Scores& scores) {
  const double unreachable = unreachable_score(vocabulary, scores);
  Json entries = Json::array();
  for (std::int64_t id = 0; id < vocabulary.id_limit(); ++id) {
    std::string piece(vocabulary.piece(id));
    if (piece.empty()) {
      piece = "<unused" + std::to_string(id) + ">";
      while (vocabulary.find(piece)) piece += ">";
    }
    const auto score = scores.find(piece);
    entries.push_back(
        {piece, score == scores.end() ? unreachable : static_cast<double>(score->second)});
  }
  return entries;
}

Json replace(Json pattern, std::string_view content) {
  return {{"type", "Replace"}, {"pattern", std::move(pattern)}, {"content", content}};
}

// SentencePiece's steps: the character map, white space at both ends and in rows, a space in front.
// It drops the mark that stands for a space at the end too, but not at the beginning.
Json normalizer_of(const SpmNormalizer& normalizer) {
  Json steps = Json::array();
  if (!normalizer.charsmap.empty())
    steps.push_back(
        {{"type", "Precompiled"}, {"precompiled_charsmap", base64(normalizer.charsmap)}});
  if (normalizer.remove_extra_whitespaces) {
    steps.push_back(replace({{"Regex", "^ +"}}, ""));
    steps.push_back(replace({{"Regex", "[ \xE2\x96\x81]+$"}}, ""));
    steps.push_back(replace({{"Regex", " {2,}"}}, " "));
  }
  if (normalizer.add_dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpaceMark}});
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

// Words can be cut one by one only if no piece goes on after a space.
bool splits_at_spaces(const SpmFile& source) {
  return std::none_of(source.pieces.begin(), source.pieces.end(), [](const SpmPiece& piece) {
    return piece.text.find(kSpaceMark, 1) != std::string_view::npos;
  });
}

Json metaspace(std::string_view prepend_scheme, bool split) {
  return {{"type", "Metaspace"},
          {"replacement", kSpaceMark},
          {"prepend_scheme", prepend_scheme},
          {"split", split}};
}

// Special tokens and language tags, in the order of their ids.
Json added_tokens(const TokenizerConfig& config, const Vocabulary& vocabulary) {
  std::vector<std::pair<std::int64_t, std::string>> tokens;
  vocabulary.for_each([&](std::string_view piece, std::int64_t id) {
    std::string token(piece);
    if (config.special_tokens.contains(token) || is_language_tag(piece))
      tokens.emplace_back(id, std::move(token));
  });
  std::sort(tokens.begin(), tokens.end());
  Json added = Json::array();
  for (const auto& [id, token] : tokens)
    added.push_back({{"id", id},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  return added;
}

// "$A </s>", and a pair as MarianTokenizer joins it.
Json template_of(const std::string& end_token, std::int64_t end_id) {
  const auto sequence = [](const char* name) {
    return Json{{"Sequence", {{"id", name}, {"type_id", 0}}}};
  };
  const Json end = {{"SpecialToken", {{"id", end_token}, {"type_id", 0}}}};
  Json special;
  special[end_token] = {
      {"id", end_token}, {"ids", Json::array({end_id})}, {"tokens", Json::array({end_token})}};
  return {{"type", "TemplateProcessing"},
          {"single", Json::array({sequence("A"), end})},
          {"pair", Json::array({sequence("A"), sequence("B"), end})},
          {"special_tokens", std::move(special)}};
}

}  // namespace

std::string make_tokenizer_json(const std::filesystem::path& folder) {
  const auto path_of = [&](const char* name) { return base::contained_path(folder, name, folder); };
  const TokenizerConfig config = read_tokenizer_config(folder, "MarianTokenizer");
  const std::string bytes = base::read_file(path_of("source.spm"), kMaxSpmBytes);
  const SpmFile source = parse_spm(bytes, path_of("source.spm"));
  check_expressible(folder, config, source);
  const Vocabulary vocabulary = Vocabulary::read(path_of("vocab.json"));
  const std::int64_t end_id = id_of(vocabulary, config.end_token, path_of("vocab.json"));
  const std::int64_t unknown_id = id_of(vocabulary, config.unknown_token, path_of("vocab.json"));

  const Json json = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added_tokens(config, vocabulary)},
      {"normalizer", normalizer_of(source.normalizer)},
      {"pre_tokenizer", metaspace("never", splits_at_spaces(source))},
      {"post_processor", template_of(config.end_token, end_id)},
      {"decoder", metaspace("always", true)},
      {"model",
       {{"type", "Unigram"},
        {"unk_id", unknown_id},
        {"vocab", unigram_vocabulary(vocabulary, scores_of(source))},
        {"byte_fallback", false}}},
  };
  return json.dump() + "\n";
}

}  // namespace sampan::text
