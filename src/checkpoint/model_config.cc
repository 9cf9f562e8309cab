#include "checkpoint/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/mapped_file.h"
#include "checkpoint/json_value.h"

namespace sampan::checkpoint {
namespace {

// The limits are far beyond any model there is; they keep products of sizes small enough to compute
// with, and a forged file from asking for absurd tables.
constexpr std::int64_t kMostLayers = 1024;
constexpr std::int64_t kMostHeads = 4096;
constexpr std::int64_t kWidest = 1 << 20;
constexpr std::int64_t kLargestVocabulary = 1 << 24;
constexpr std::int64_t kMostPositions = 1 << 24;
constexpr std::int64_t kLargestPositionTable =
    1 << 28;  // elements: max_position_embeddings x d_model

enum class Expected { kTrue, kFalse, kEmpty };

/// A field that must have its harmless value (absent counts as that).
struct Requirement {
  std::string_view field;
  Expected expected;
  std::string_view otherwise;  // what another value would mean
};

// What no graph does. docs/checkpoints.md tells for every field why it is here or is ignored.
constexpr std::array kRequirements = {
    Requirement{"is_encoder_decoder", Expected::kTrue, "a model without an encoder"},
    Requirement{"is_decoder", Expected::kFalse, "a model without an encoder"},
    Requirement{"tie_encoder_decoder", Expected::kFalse, "layers shared by encoder and decoder"},
    Requirement{"pruned_heads", Expected::kEmpty, "attention heads taken out"},
    Requirement{"quantization_config", Expected::kEmpty, "quantised weights"},
    Requirement{"auto_map", Expected::kEmpty, "a model whose code comes with the checkpoint"},
    Requirement{"sliding_window", Expected::kEmpty, "attention within a window"},
    Requirement{"attention_chunk_size", Expected::kEmpty, "attention within chunks"},
    Requirement{"layer_types", Expected::kEmpty, "layers of several kinds"},
    Requirement{"num_kv_shared_layers", Expected::kEmpty, "layers sharing their keys and values"},
};
// transformers no longer reads these either, but a checkpoint with another value was made for what
// its Marian classes do not do.
constexpr std::array kMarianRequirements = {
    Requirement{"normalize_before", Expected::kFalse, "pre-norm layers"},
    Requirement{"normalize_embedding", Expected::kFalse, "a LayerNorm after the embeddings"},
    Requirement{"add_final_layer_norm", Expected::kFalse, "a LayerNorm after the last layer"},
    Requirement{"static_position_embeddings", Expected::kTrue, "learned positions"},
};
// M2M100's classes have no such switches: what old files say of norms and positions is not read.
constexpr std::array kM2M100Requirements = {
    Requirement{"share_encoder_decoder_embeddings", Expected::kTrue, "two embeddings"},
    Requirement{"decoder_vocab_size", Expected::kEmpty, "a target vocabulary of its own"},
};

/// What differs between families: the values that transformers takes for absent fields, and the one
/// class a checkpoint may be of.
struct Family {
  std::string_view model_type;
  std::string_view architecture;
  ModelConfig defaults;
  std::span<const Requirement> requirements;  // beside kRequirements
};

std::vector<Family> families() {
  ModelConfig marian;
  marian.model_type = "marian";
  marian.d_model = 1024;
  marian.encoder_layers = marian.decoder_layers = 12;
  marian.encoder_attention_heads = marian.decoder_attention_heads = 16;
  marian.encoder_ffn_dim = marian.decoder_ffn_dim = 4096;
  marian.vocab_size = 58101;
  marian.max_position_embeddings = 1024;
  marian.activation_function = Activation::kGelu;
  marian.pad_token_id = marian.decoder_start_token_id = 58100;
  marian.eos_token_id = {0};

  ModelConfig m2m100;
  m2m100.model_type = "m2m_100";
  m2m100.d_model = 1024;
  m2m100.encoder_layers = m2m100.decoder_layers = 12;
  m2m100.encoder_attention_heads = m2m100.decoder_attention_heads = 16;
  m2m100.encoder_ffn_dim = m2m100.decoder_ffn_dim = 4096;
  m2m100.vocab_size = 128112;
  m2m100.max_position_embeddings = 1024;
  m2m100.activation_function = Activation::kRelu;
  m2m100.scale_embedding = true;
  m2m100.bos_token_id = 0;
  m2m100.pad_token_id = 1;
  m2m100.eos_token_id = {2};
  m2m100.decoder_start_token_id = 2;
  return {{"m2m_100", "M2M100ForConditionalGeneration", m2m100, kM2M100Requirements},
          {"marian", "MarianMTModel", marian, kMarianRequirements}};
}

constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"relu", Activation::kRelu},
    {"gelu", Activation::kGelu},
    {"gelu_python", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_python_tanh", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"gelu_accurate", Activation::kGeluTanh},
};

/// Reads fields of one config.json with their types; messages name the file.
class FieldReader {
 public:
  FieldReader(const JsonObject& fields, const std::filesystem::path& file)
      : fields_(fields), file_(file) {}

  const JsonValue* find(std::string_view name) const { return find_member(fields_, name); }

  void read(std::string_view name, bool& target) const {
    const JsonValue* value = find(name);
    if (value == nullptr) return;
    const bool* boolean = value->as<bool>();
    if (boolean == nullptr) refuse(name, *value, "true or false");
    target = *boolean;
  }

  // `least` to `most`; `target` stays when the field is absent.
  void read(std::string_view name, std::int64_t least, std::int64_t most,
            std::int64_t& target) const {
    if (const JsonValue* value = find(name)) target = integer(name, *value, least, most);
  }

  std::int64_t integer(std::string_view name, const JsonValue& value, std::int64_t least,
                       std::int64_t most) const {
    const std::int64_t* integer = value.as<std::int64_t>();
    if (integer == nullptr || *integer < least || *integer > most)
      refuse(name, value, fmt::format("a whole number from {} to {}", least, most));
    return *integer;
  }

  [[noreturn]] void refuse(std::string_view name, const JsonValue& value,
                           std::string_view expected) const {
    base::fail(ErrorCode::kInvalidData,
               "{}: {} is {}, but must be {}; correct it or download the "
               "file again",
               file_.string(), name, describe(value), expected);
  }

  [[noreturn]] void contradiction(std::string_view problem) const {
    base::fail(ErrorCode::kInvalidData, "{}: {}; correct it or download the file again",
               file_.string(), problem);
  }

  [[noreturn]] void unsupported(std::string_view name, const JsonValue& value,
                                std::string_view reason) const {
    base::fail(ErrorCode::kUnsupported,
               "{}: {} is {} ({}), which is not supported; choose another "
               "checkpoint",
               file_.string(), name, describe(value), reason);
  }

 private:
  const JsonObject& fields_;
  const std::filesystem::path& file_;
};

Family family_of(const FieldReader& reader, const std::filesystem::path& file) {
  const std::vector<Family> known = families();
  std::vector<std::string_view> names;
  for (const Family& family : known) names.push_back(family.model_type);
  const JsonValue* value = reader.find("model_type");
  if (value == nullptr)
    base::fail(ErrorCode::kInvalidData, "{}: has no model_type; supported are: {}", file.string(),
               fmt::join(names, ", "));
  const std::string* name = value->as<std::string>();
  for (const Family& family : known)
    if (name != nullptr && *name == family.model_type) return family;
  base::fail(ErrorCode::kUnsupported, "{}: model_type {} is not supported; supported are: {}",
             file.string(), describe(*value), fmt::join(names, ", "));
}

bool is_empty(const JsonValue& value) {
  const JsonArray* array = value.as<JsonArray>();
  const JsonObject* object = value.as<JsonObject>();
  return value.is_null() || (array && array->empty()) || (object && object->empty());
}

void check_requirements(const FieldReader& reader, std::span<const Requirement> requirements) {
  for (const Requirement& requirement : requirements) {
    const JsonValue* value = reader.find(requirement.field);
    if (value == nullptr) continue;
    bool harmless = false;
    if (requirement.expected == Expected::kEmpty) {
      harmless = is_empty(*value);
    } else if (const bool* boolean = value->as<bool>()) {
      harmless = *boolean == (requirement.expected == Expected::kTrue);
    } else {
      reader.refuse(requirement.field, *value, "true or false");
    }
    if (!harmless) reader.unsupported(requirement.field, *value, requirement.otherwise);
  }
}

// transformers picks the class by model_type alone; a checkpoint saved from another class of the
// family (a decoder alone, say) has other weights.
void check_architecture(const FieldReader& reader, std::string_view expected) {
  const JsonValue* value = reader.find("architectures");
  if (value == nullptr || is_empty(*value)) return;
  const JsonArray* names = value->as<JsonArray>();
  if (names == nullptr) reader.refuse("architectures", *value, "a list of class names");
  const bool present = std::any_of(names->begin(), names->end(), [&](const JsonValue& name) {
    const std::string* text = name.as<std::string>();
    return text != nullptr && *text == expected;
  });
  if (!present)
    reader.unsupported("architectures", *value, fmt::format("supported is {}", expected));
}

// transformers knows two fields under a second name too, and the second name wins; both with
// different values are a contradiction.
void read_aliased(const FieldReader& reader, std::array<std::string_view, 2> names,
                  std::int64_t most, std::int64_t& target) {
  reader.read(names[0], 1, most, target);
  const std::int64_t first = target;
  reader.read(names[1], 1, most, target);
  if (reader.find(names[0]) != nullptr && target != first)
    reader.contradiction(fmt::format("{} is {} but {} is {}, and they mean the same", names[0],
                                     first, names[1], target));
}

void read_sizes(const FieldReader& reader, ModelConfig& config) {
  read_aliased(reader, {"d_model", "hidden_size"}, kWidest, config.d_model);
  read_aliased(reader, {"encoder_attention_heads", "num_attention_heads"}, kMostHeads,
               config.encoder_attention_heads);
  reader.read("decoder_attention_heads", 1, kMostHeads, config.decoder_attention_heads);
  reader.read("encoder_layers", 1, kMostLayers, config.encoder_layers);
  reader.read("decoder_layers", 1, kMostLayers, config.decoder_layers);
  reader.read("encoder_ffn_dim", 1, kWidest, config.encoder_ffn_dim);
  reader.read("decoder_ffn_dim", 1, kWidest, config.decoder_ffn_dim);
  reader.read("vocab_size", 1, kLargestVocabulary, config.vocab_size);
  reader.read("max_position_embeddings", 1, kMostPositions, config.max_position_embeddings);
  for (const auto& [side, heads] : {std::pair("encoder", config.encoder_attention_heads),
                                    std::pair("decoder", config.decoder_attention_heads)})
    if (config.d_model % heads != 0)
      reader.contradiction(fmt::format("d_model {} cannot be divided among {}_attention_heads {}",
                                       config.d_model, side, heads));
  if (config.d_model * config.max_position_embeddings > kLargestPositionTable)
    reader.contradiction(
        fmt::format("max_position_embeddings {} at d_model {} is beyond the limit "
                    "of {} elements",
                    config.max_position_embeddings, config.d_model, kLargestPositionTable));
}

// Shared embeddings have vocab_size rows whatever decoder_vocab_size says, as in transformers;
// absent, null and 0 mean vocab_size too.
void read_embeddings(const FieldReader& reader, ModelConfig& config) {
  reader.read("scale_embedding", config.scale_embedding);
  reader.read("share_encoder_decoder_embeddings", config.share_encoder_decoder_embeddings);
  reader.read("tie_word_embeddings", config.tie_word_embeddings);
  config.decoder_vocab_size = 0;
  const JsonValue* decoder = reader.find("decoder_vocab_size");
  if (decoder != nullptr && !decoder->is_null())
    reader.read("decoder_vocab_size", 0, kLargestVocabulary, config.decoder_vocab_size);
  if (config.share_encoder_decoder_embeddings || config.decoder_vocab_size == 0)
    config.decoder_vocab_size = config.vocab_size;
}

void read_activation(const FieldReader& reader, ModelConfig& config) {
  const JsonValue* value = reader.find("activation_function");
  if (value == nullptr) return;
  const std::string* name = value->as<std::string>();
  if (name == nullptr) reader.refuse("activation_function", *value, "the name of a function");
  for (const auto& [known, activation] : kActivations)
    if (*name == known) {
      config.activation_function = activation;
      return;
    }
  reader.unsupported("activation_function", *value,
                     "supported are silu, swish, relu, gelu and gelu_new");
}

void read_token_ids(const FieldReader& reader, ModelConfig& config) {
  const std::int64_t last = config.vocab_size - 1;
  const std::int64_t last_target = config.decoder_vocab_size - 1;
  // Absent ids take the family's defaults, which must fit the vocabulary like written ones.
  const auto require = [&](std::string_view name, std::int64_t id, std::int64_t highest) {
    if (id > highest)
      reader.contradiction(
          fmt::format("{} {} is outside the vocabulary of {} entries", name, id, highest + 1));
  };
  reader.read("pad_token_id", 0, kLargestVocabulary, config.pad_token_id);
  reader.read("decoder_start_token_id", 0, kLargestVocabulary, config.decoder_start_token_id);
  require("pad_token_id", config.pad_token_id, last);
  require("decoder_start_token_id", config.decoder_start_token_id, last_target);

  if (const JsonValue* value = reader.find("eos_token_id")) {
    config.eos_token_id.clear();
    if (const JsonArray* list = value->as<JsonArray>()) {
      for (const JsonValue& item : *list)
        config.eos_token_id.push_back(reader.integer("eos_token_id", item, 0, kLargestVocabulary));
    } else {
      config.eos_token_id = {reader.integer("eos_token_id", *value, 0, kLargestVocabulary)};
    }
  }
  if (config.eos_token_id.empty()) reader.contradiction("eos_token_id is an empty list");
  for (const std::int64_t id : config.eos_token_id) require("eos_token_id", id, last_target);

  const JsonValue* bos = reader.find("bos_token_id");
  if (bos != nullptr && !bos->is_null())
    config.bos_token_id = reader.integer("bos_token_id", *bos, 0, kLargestVocabulary);
}

}  // namespace

ModelConfig parse_model_config(std::string_view text, const std::filesystem::path& file) {
  base::refuse_foreign_content(std::as_bytes(std::span(text)), file);
  const JsonObject fields = parse_json_object(text, file);
  const FieldReader reader(fields, file);
  const Family family = family_of(reader, file);
  check_architecture(reader, family.architecture);
  check_requirements(reader, kRequirements);
  check_requirements(reader, family.requirements);
  ModelConfig config = family.defaults;
  read_sizes(reader, config);
  read_embeddings(reader, config);
  read_activation(reader, config);
  read_token_ids(reader, config);
  return config;
}

ModelConfig read_model_config(const std::filesystem::path& config_json) {
  return parse_model_config(base::read_file(config_json, kLongestModelConfig), config_json);
}

}  // namespace sampan::checkpoint
