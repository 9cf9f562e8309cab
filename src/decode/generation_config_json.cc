#include "decode/generation_config_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"

namespace sampan::decode {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = 4U << 20U;

/// A value as messages show it.
std::string shown(const Json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMost) text.replace(kMost, std::string::npos, "...");
  return text;
}

/// One named value of a file, and typed access to it.
class Field {
 public:
  Field(const std::filesystem::path& file, const std::string& name, const Json& value)
      : file_(file), name_(name), value_(value) {}

  const Json& json() const { return value_; }

  std::int64_t integer() const { return integer_of(value_, "a whole number"); }
  double number() const {
    if (!value_.is_number()) fail_type("a number");
    return value_.get<double>();
  }
  bool boolean() const {
    if (!value_.is_boolean()) fail_type("true or false");
    return value_.get<bool>();
  }
  /// A token or a list of tokens.
  std::vector<std::int64_t> tokens() const {
    if (!value_.is_array()) return {integer_of(value_, "a token or a list of tokens")};
    return tokens_of(value_, "a token or a list of tokens");
  }
  std::vector<std::vector<std::int64_t>> token_lists() const {
    constexpr std::string_view kExpected = "a list of lists of tokens";
    if (!value_.is_array()) fail_type(kExpected);
    std::vector<std::vector<std::int64_t>> lists;
    for (const Json& list : value_) {
      if (!list.is_array()) fail_type(kExpected);
      lists.push_back(tokens_of(list, kExpected));
    }
    return lists;
  }

  [[noreturn]] void fail_type(std::string_view expected) const {
    base::fail(ErrorCode::kInvalidData, "{}: {} is {}, {} is expected; correct the file",
               file_.string(), name_, shown(value_), expected);
  }
  [[noreturn]] void fail_unsupported() const {
    base::fail(ErrorCode::kUnsupported,
               "{}: {} is {}, which would change the output and is not supported; remove the field "
               "to translate without it",
               file_.string(), name_, shown(value_));
  }

 private:
  std::int64_t integer_of(const Json& value, std::string_view expected) const {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<std::uint64_t>() <=
                           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!fits) fail_type(expected);
    return value.get<std::int64_t>();
  }
  std::vector<std::int64_t> tokens_of(const Json& list, std::string_view expected) const {
    std::vector<std::int64_t> tokens;
    for (const Json& token : list) tokens.push_back(integer_of(token, expected));
    return tokens;
  }

  const std::filesystem::path& file_;
  const std::string& name_;
  const Json& value_;
};

EarlyStopping early_stopping_of(const Field& field) {
  if (field.json() == "never") return EarlyStopping::kNever;
  if (!field.json().is_boolean()) field.fail_type("true, false or \"never\"");
  return field.boolean() ? EarlyStopping::kTrue : EarlyStopping::kFalse;
}

/// What a file says, with the marks of what it does not.
struct Settings {
  GenerationConfig config;
  std::optional<std::int64_t> bos, decoder_start, pad;
};

struct SupportedField {
  std::string_view name;
  void (*set)(Settings& settings, const Field& field);
};

// clang-format off
constexpr auto kSupported = std::to_array<SupportedField>({
    {"num_beams", [](Settings& s, const Field& f) { s.config.num_beams = f.integer(); }},
    {"num_return_sequences", [](Settings& s, const Field& f) { s.config.num_return_sequences = f.integer(); }},
    {"length_penalty", [](Settings& s, const Field& f) { s.config.length_penalty = f.number(); }},
    {"early_stopping", [](Settings& s, const Field& f) { s.config.early_stopping = early_stopping_of(f); }},
    {"max_length", [](Settings& s, const Field& f) { s.config.max_length = f.integer(); }},
    {"max_new_tokens", [](Settings& s, const Field& f) { s.config.max_new_tokens = f.integer(); }},
    {"min_length", [](Settings& s, const Field& f) { s.config.min_length = f.integer(); }},
    {"min_new_tokens", [](Settings& s, const Field& f) { s.config.min_new_tokens = f.integer(); }},
    {"do_sample", [](Settings& s, const Field& f) { s.config.do_sample = f.boolean(); }},
    {"temperature", [](Settings& s, const Field& f) { s.config.temperature = f.number(); }},
    {"top_k", [](Settings& s, const Field& f) { s.config.top_k = f.integer(); }},
    {"top_p", [](Settings& s, const Field& f) { s.config.top_p = f.number(); }},
    {"no_repeat_ngram_size", [](Settings& s, const Field& f) { s.config.no_repeat_ngram_size = f.integer(); }},
    {"repetition_penalty", [](Settings& s, const Field& f) { s.config.repetition_penalty = f.number(); }},
    {"bad_words_ids", [](Settings& s, const Field& f) { s.config.bad_words_ids = f.token_lists(); }},
    {"suppress_tokens", [](Settings& s, const Field& f) { s.config.suppress_tokens = f.tokens(); }},
    {"forced_bos_token_id", [](Settings& s, const Field& f) { s.config.forced_bos_token_id = f.integer(); }},
    {"forced_eos_token_id", [](Settings& s, const Field& f) { s.config.forced_eos_token_id = f.tokens(); }},
    {"renormalize_logits", [](Settings& s, const Field& f) { s.config.renormalize_logits = f.boolean(); }},
    {"eos_token_id", [](Settings& s, const Field& f) { s.config.eos_token_id = f.tokens(); }},
    {"bos_token_id", [](Settings& s, const Field& f) { s.bos = f.integer(); }},
    {"decoder_start_token_id", [](Settings& s, const Field& f) { s.decoder_start = f.integer(); }},
    {"pad_token_id", [](Settings& s, const Field& f) { s.pad = f.integer(); }},
});
// clang-format on

/// Fields of transformers' GenerationConfig that sampan lacks, and the values beside null that
/// leave the output alone.
const std::vector<std::pair<std::string_view, std::vector<Json>>>& neutral_fields() {
  static const std::vector<std::pair<std::string_view, std::vector<Json>>> fields = {
      {"assistant_early_exit", {}},
      {"begin_suppress_tokens", {Json::array()}},
      {"constraints", {}},
      {"diversity_penalty", {0}},
      {"dola_layers", {}},
      {"encoder_no_repeat_ngram_size", {0}},
      {"encoder_repetition_penalty", {1}},
      {"epsilon_cutoff", {0}},
      {"eta_cutoff", {0}},
      {"exponential_decay_length_penalty", {}},
      {"force_words_ids", {}},
      {"forced_decoder_ids", {}},
      {"guidance_scale", {1}},
      {"is_assistant", {false}},
      {"low_memory", {false}},
      {"max_time", {}},
      {"min_p", {0}},
      {"num_beam_groups", {1}},
      {"penalty_alpha", {0}},
      {"prompt_lookup_num_tokens", {}},
      {"remove_invalid_values", {false}},
      {"sequence_bias", {}},
      {"stop_strings", {}},
      {"token_healing", {false}},
      {"typical_p", {1}},
      {"watermarking_config", {}},
  };
  return fields;
}

/// Fields that never touch the tokens of one model's search.
constexpr auto kHarmless = std::to_array<std::string_view>({"_commit_hash",
                                                            "_from_model_config",
                                                            "assistant_confidence_threshold",
                                                            "assistant_lookbehind",
                                                            "cache_config",
                                                            "cache_implementation",
                                                            "compile_config",
                                                            "disable_compile",
                                                            "max_matching_ngram_size",
                                                            "num_assistant_tokens",
                                                            "num_assistant_tokens_schedule",
                                                            "output_attentions",
                                                            "output_hidden_states",
                                                            "output_logits",
                                                            "output_scores",
                                                            "prefill_chunk_size",
                                                            "return_dict_in_generate",
                                                            "return_legacy_cache",
                                                            "target_lookbehind",
                                                            "transformers_version",
                                                            "use_cache"});

/// What null means: the default of sampan's field, save where transformers reads it as "off".
void set_null(Settings& settings, const std::string& name) {
  if (name == "top_k") settings.config.top_k = 0;
}

/// Takes one field over. `every` : an unknown name is an error, as it may change the output; not so
/// in config.json, which describes the model.
void take_field(Settings& settings, const Field& field, const std::string& name, bool every) {
  const auto supported = std::ranges::find(kSupported, name, &SupportedField::name);
  if (supported != kSupported.end()) {
    if (field.json().is_null()) {
      set_null(settings, name);
    } else {
      supported->set(settings, field);
    }
    return;
  }
  if (std::ranges::find(kHarmless, name) != kHarmless.end() || field.json().is_null()) return;
  for (const auto& [neutral_name, values] : neutral_fields()) {
    if (neutral_name != name) continue;
    if (std::ranges::find(values, field.json()) == values.end()) field.fail_unsupported();
    return;
  }
  if (every) field.fail_unsupported();
}

Json parse_object(std::string_view text, const std::filesystem::path& file) {
  Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) {
    base::fail(ErrorCode::kInvalidData, "{}: this is not a JSON object; fetch the file again",
               file.string());
  }
  return object;
}

/// The special tokens that a family's configuration class has where config.json is silent.
void set_family_defaults(Settings& settings, const Json& config) {
  const auto type = config.find("model_type");
  if (type == config.end()) return;
  if (*type == "marian") {
    settings.config.eos_token_id = {0};
    settings.config.forced_eos_token_id = {0};
    settings.decoder_start = 58100;
    settings.pad = 58100;
  } else if (*type == "m2m_100") {
    settings.config.eos_token_id = {2};
    settings.decoder_start = 2;
    settings.pad = 1;
    settings.bos = 0;
  }
}

/// True if config.json sets a parameter of generation to another value than transformers' default,
/// which makes it overrule a generation_config.json that was derived from it.
bool sets_generation(const Json& config) {
  static const Json defaults = {{"max_length", 20},
                                {"min_length", 0},
                                {"do_sample", false},
                                {"early_stopping", false},
                                {"num_beams", 1},
                                {"temperature", 1.0},
                                {"top_k", 50},
                                {"top_p", 1.0},
                                {"typical_p", 1.0},
                                {"repetition_penalty", 1.0},
                                {"length_penalty", 1.0},
                                {"no_repeat_ngram_size", 0},
                                {"bad_words_ids", nullptr},
                                {"num_beam_groups", 1},
                                {"diversity_penalty", 0.0},
                                {"suppress_tokens", nullptr},
                                {"num_return_sequences", 1},
                                {"encoder_no_repeat_ngram_size", 0},
                                {"forced_bos_token_id", nullptr},
                                {"remove_invalid_values", false},
                                {"exponential_decay_length_penalty", nullptr},
                                {"begin_suppress_tokens", nullptr}};
  return std::ranges::any_of(defaults.items(), [&](const auto& item) {
    const auto found = config.find(item.key());
    return found != config.end() && !found->is_null() && *found != item.value();
  });
}

/// Fills in what follows from other fields, and checks the whole.
GenerationConfig complete(Settings settings, const std::filesystem::path& file) {
  GenerationConfig config = std::move(settings.config);
  if (config.eos_token_id.empty()) {
    base::fail(ErrorCode::kInvalidData,
               "{}: eos_token_id is missing, so that no target would end; add it", file.string());
  }
  if (!settings.decoder_start && !settings.bos) {
    base::fail(ErrorCode::kInvalidData,
               "{}: neither decoder_start_token_id nor bos_token_id is there; add one",
               file.string());
  }
  config.decoder_start_token_id = settings.decoder_start.value_or(settings.bos.value_or(0));
  config.pad_token_id = settings.pad.value_or(config.eos_token_id.front());
  if (config.do_sample && config.num_beams > 1) {
    base::fail(
        ErrorCode::kUnsupported,
        "{}: do_sample with num_beams {} (beam sampling) is not supported; remove one of them",
        file.string(), config.num_beams);
  }
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) {
    base::fail(ErrorCode::kInvalidData, "{}: {}; correct the file", file.string(),
               fmt::join(problems, "; "));
  }
  return config;
}

}  // namespace

GenerationConfig parse_generation_config(const GenerationConfigTexts& texts) {
  const std::filesystem::path own = texts.folder / "generation_config.json";
  const std::filesystem::path model = texts.folder / "config.json";
  if (!texts.generation_config && !texts.config) {
    base::fail(ErrorCode::kNotFound,
               "{}: neither generation_config.json nor config.json is there; "
               "name the folder of a package or checkpoint",
               texts.folder.string());
  }
  Json object;
  bool from_model = !texts.generation_config;
  if (texts.generation_config) {
    object = parse_object(*texts.generation_config, own);
    const auto mark = object.find("_from_model_config");
    const bool derived = mark != object.end() && *mark == true;
    from_model = texts.config && (object.empty() ||
                                  (derived && sets_generation(parse_object(*texts.config, model))));
  }
  const std::filesystem::path& file = from_model ? model : own;
  Settings settings;
  if (from_model) {
    object = parse_object(*texts.config, model);
    set_family_defaults(settings, object);
  }
  for (const auto& [name, value] : object.items()) {
    take_field(settings, Field(file, name, value), name, !from_model);
  }
  return complete(std::move(settings), file);
}

GenerationConfig read_generation_config(const std::filesystem::path& folder) {
  const auto read = [&](const char* name) -> std::optional<std::string> {
    try {
      return base::read_file(folder / name, kMostBytes);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      return std::nullopt;
    }
  };
  const std::optional<std::string> own = read("generation_config.json");
  const std::optional<std::string> model = read("config.json");
  return parse_generation_config({folder, own, model});
}

}  // namespace sampan::decode
