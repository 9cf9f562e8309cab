#include "exporter/generation_config.h"

#include <array>
#include <nlohmann/json.hpp>

namespace sampan::exporter {
namespace {

using Json = nlohmann::json;

/// What GenerationConfig has in common with an old config.json and changes what is generated.
constexpr std::array<std::string_view, 43> kGenerationFields = {
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "constraints",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dola_layers",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "encoder_repetition_penalty",
    "eos_token_id",
    "epsilon_cutoff",
    "eta_cutoff",
    "exponential_decay_length_penalty",
    "force_words_ids",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "guidance_scale",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "max_time",
    "min_length",
    "min_new_tokens",
    "min_p",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "pad_token_id",
    "penalty_alpha",
    "prompt_lookup_num_tokens",
    "remove_invalid_values",
    "renormalize_logits",
    "repetition_penalty",
    "sequence_bias",
    "stop_strings",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
};

/// The fields for which a family's configuration class has a default of its own.
Json family_defaults(const std::string& model_type) {
  if (model_type == "marian")
    return {{"decoder_start_token_id", 58100},
            {"eos_token_id", 0},
            {"forced_eos_token_id", 0},
            {"pad_token_id", 58100}};
  if (model_type == "m2m_100")
    return {{"bos_token_id", 0},
            {"decoder_start_token_id", 2},
            {"eos_token_id", 2},
            {"pad_token_id", 1}};
  return Json::object();
}

}  // namespace

std::string derive_generation_config(std::string_view config_json) {
  const Json config = Json::parse(config_json);
  Json fields = family_defaults(config.value("model_type", ""));
  for (const std::string_view name : kGenerationFields)
    if (const auto value = config.find(name); value != config.end())
      fields[std::string(name)] = *value;
  Json derived = {{"_from_model_config", true}};
  for (const auto& [name, value] : fields.items())
    if (!value.is_null()) derived[name] = value;
  return derived.dump(2) + "\n";
}

}  // namespace sampan::exporter
