#include "text/tokenizer_config.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/printable.h"

namespace sampan::text {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 20;

struct JsonFile {
  std::string name;
  json content;
};

std::optional<JsonFile> read_if_there(const std::filesystem::path& folder, const char* name) {
  const std::filesystem::path path = base::contained_path(folder, name, folder);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  JsonFile file{.name = path.string(),
                .content = json::parse(base::read_file(path, kMaxConfigBytes), nullptr, false)};
  if (!file.content.is_object())
    base::fail(ErrorCode::kInvalidData, "{}: is not a JSON object; download it again", file.name);
  return file;
}

[[noreturn]] void wrong_type(const JsonFile& file, std::string_view key, const char* expected) {
  base::fail(ErrorCode::kInvalidData, "{}: '{}' is {}, not {}; restore the original file",
             file.name, base::printable(key), file.content.at(std::string(key)).type_name(),
             expected);
}

// The value of a key that is there and not null.
const json* find(const JsonFile& file, std::string_view key) {
  const auto found = file.content.find(key);
  return found == file.content.end() || found->is_null() ? nullptr : &*found;
}

void read_text(const JsonFile& file, std::string_view key, std::string& value) {
  const json* found = find(file, key);
  if (found == nullptr) return;
  if (!found->is_string()) wrong_type(file, key, "a text");
  value = found->get<std::string>();
}

void read_flag(const JsonFile& file, std::string_view key, bool& value) {
  const json* found = find(file, key);
  if (found == nullptr) return;
  if (!found->is_boolean()) wrong_type(file, key, "true or false");
  value = found->get<bool>();
}

// A token is a text, or an object that has one under "content".
std::optional<std::string> token_text(const json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (token.is_object() && token.contains("content") && token["content"].is_string())
    return token["content"].get<std::string>();
  return std::nullopt;
}

std::string token_of(const JsonFile& file, std::string_view key, const json& value) {
  std::optional<std::string> text = token_text(value);
  if (!text || text->empty()) wrong_type(file, key, "a token");
  return *std::move(text);
}

void read_special_tokens(const JsonFile& file, TokenizerConfig& config) {
  const auto read = [&](std::string_view key, std::string& token) {
    if (const json* found = find(file, key)) token = token_of(file, key, *found);
  };
  read("eos_token", config.end_token);
  read("unk_token", config.unknown_token);
  read("pad_token", config.pad_token);
  for (const char* key : {"bos_token", "sep_token", "cls_token", "mask_token"}) {
    std::string token;
    read(key, token);
    if (!token.empty()) config.special_tokens.insert(token);
  }
  if (const json* more = find(file, "additional_special_tokens")) {
    if (!more->is_array()) wrong_type(file, "additional_special_tokens", "a list");
    for (const json& token : *more)
      config.special_tokens.insert(token_of(file, "additional_special_tokens", token));
  }
}

void refuse_unsupported(const JsonFile& file, std::string_view supported) {
  std::string tokenizer_class(supported);
  read_text(file, "tokenizer_class", tokenizer_class);
  if (tokenizer_class != supported)
    base::fail(ErrorCode::kUnsupported,
               "{}: tokenizer_class '{}' does not fit the model; {} is supported", file.name,
               base::printable(tokenizer_class), supported);
  if (const json* arguments = find(file, "sp_model_kwargs"); arguments && !arguments->empty())
    base::fail(ErrorCode::kUnsupported,
               "{}: sp_model_kwargs {} would change the pieces and is not supported; remove it if "
               "the model does without",
               file.name, base::printable(arguments->dump()));
}

void refuse_plain_token(const std::string& file, const std::string& content) {
  base::fail(ErrorCode::kUnsupported,
             "{}: the added token '{}' is not a special one and would split the text, which is not "
             "supported",
             file, base::printable(content));
}

// "added_tokens_decoder": {"0": {"content": "</s>", "special": true, ...}, ...}
void read_added_tokens_decoder(const JsonFile& file, const json& tokens, TokenizerConfig& config) {
  if (!tokens.is_object()) wrong_type(file, "added_tokens_decoder", "an object");
  for (const auto& [key, token] : tokens.items()) {
    std::int64_t id = -1;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
    const std::optional<std::string> content = token_text(token);
    if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size() || id < 0 || !content)
      base::fail(ErrorCode::kInvalidData,
                 "{}: added_tokens_decoder has '{}', which is no token with its id; restore the "
                 "original file",
                 file.name, base::printable(key));
    if (!token.is_object() || !token.value("special", json(false)).is_boolean() ||
        !token.value("special", false))
      refuse_plain_token(file.name, *content);
    config.special_tokens.insert(*content);
    config.added_tokens.push_back({.content = *content, .id = id, .file = file.name});
  }
}

// {"<pad>": 65000}; a token that no other file calls special would split the text.
void read_added_tokens(const JsonFile& file, TokenizerConfig& config) {
  for (const auto& [content, id] : file.content.items()) {
    if (!id.is_number_unsigned()) wrong_type(file, content, "an id");
    if (!config.special_tokens.contains(content)) refuse_plain_token(file.name, content);
    config.added_tokens.push_back(
        {.content = content, .id = id.get<std::int64_t>(), .file = file.name});
  }
}

}  // namespace

TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder,
                                      std::string_view tokenizer_class) {
  TokenizerConfig config;
  const json* added = nullptr;
  const std::optional<JsonFile> main = read_if_there(folder, "tokenizer_config.json");
  if (main) {
    refuse_unsupported(*main, tokenizer_class);
    read_text(*main, "source_lang", config.source_language);
    read_text(*main, "target_lang", config.target_language);
    read_text(*main, "src_lang", config.source_language);
    read_text(*main, "tgt_lang", config.target_language);
    read_text(*main, "language_codes", config.language_codes);
    read_flag(*main, "separate_vocabs", config.separate_vocabs);
    read_flag(*main, "clean_up_tokenization_spaces", config.clean_up_spaces);
    read_special_tokens(*main, config);
    added = find(*main, "added_tokens_decoder");
  }
  const std::optional<JsonFile> map =
      added ? std::nullopt : read_if_there(folder, "special_tokens_map.json");
  if (map) read_special_tokens(*map, config);
  for (const auto* token : {&config.end_token, &config.unknown_token, &config.pad_token})
    config.special_tokens.insert(*token);
  if (added) {
    read_added_tokens_decoder(*main, *added, config);
  } else if (const auto file = read_if_there(folder, "added_tokens.json")) {
    read_added_tokens(*file, config);
  }
  return config;
}

}  // namespace sampan::text
