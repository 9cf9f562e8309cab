#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::checkpoint {

/// The feed-forward activations of the supported families: silu(x) = x * sigmoid(x) ("swish"),
/// relu, and gelu in its exact (erf) and tanh-approximated ("gelu_new") forms.
enum class Activation { kSilu, kRelu, kGelu, kGeluTanh };

/// config.json of an encoder-decoder transformer, typed and checked.
struct ModelConfig {
  std::string model_type;  ///< "marian", "m2m_100"

  std::int64_t d_model = 0;  ///< width of the residual stream
  std::int64_t encoder_layers = 0;
  std::int64_t decoder_layers = 0;
  std::int64_t encoder_attention_heads = 0;
  std::int64_t decoder_attention_heads = 0;
  std::int64_t encoder_ffn_dim = 0;
  std::int64_t decoder_ffn_dim = 0;
  std::int64_t vocab_size = 0;          ///< rows of the source embedding
  std::int64_t decoder_vocab_size = 0;  ///< rows of the target embedding and of the logits
  std::int64_t max_position_embeddings = 0;
  Activation activation_function = Activation::kSilu;
  bool scale_embedding = false;  ///< multiply embeddings by sqrt(d_model)
  bool share_encoder_decoder_embeddings = true;
  bool tie_word_embeddings = true;  ///< the output projection is the target embedding

  std::int64_t pad_token_id = 0;
  std::vector<std::int64_t> eos_token_id;
  std::optional<std::int64_t> bos_token_id;
  std::int64_t decoder_start_token_id = 0;

  std::int64_t encoder_head_dim() const { return d_model / encoder_attention_heads; }
  std::int64_t decoder_head_dim() const { return d_model / decoder_attention_heads; }
};

/// Reads and checks `config.json`. Absent fields take the values transformers takes for the family;
/// docs/checkpoints.md lists every field. Throws `Error`: kNotFound; kInvalidData for JSON that
/// does not parse, a value of the wrong type or out of range, or values that contradict each other
/// (heads that do not divide d_model); kUnsupported for another `model_type` (naming it and what is
/// supported) and for a field that would change the output and is not supported (naming field and
/// value).
ModelConfig read_model_config(const std::filesystem::path& config_json);

/// Bytes of a config.json at most.
inline constexpr std::size_t kLongestModelConfig = std::size_t{16} << 20;

/// The same from the text of a config.json; `file` is what messages name.
ModelConfig parse_model_config(std::string_view text, const std::filesystem::path& file);

}  // namespace sampan::checkpoint
