#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/signature.h"

/// Which inputs and outputs of a package's graphs carry what, found by their names: the contract is
/// optimum's, in docs/package-format.md. Ids and masks are int64, everything else float32.
namespace sampan::session {

/// Input and output names of one layer's key or value tensor [row, head, length, head_dim].
struct CacheNames {
  std::string past;           ///< input of the next step: "past_key_values.0.decoder.key"
  std::string present;        ///< output: "present.0.decoder.key"
  std::int64_t heads = 0;     ///< -1: the graphs do not tell
  std::int64_t head_dim = 0;  ///< -1: the graphs do not tell
};

/// How a decoder graph is run. Names of inputs and outputs are those of `CacheNames` and the k...
/// constants below.
struct DecoderInputs {
  bool encoder_hidden_states = false;
  bool encoder_attention_mask = false;
  bool past = false;              ///< takes self- and cross-attention K/V
  bool use_cache_branch = false;  ///< a merged graph
};

struct DecoderContract {
  std::int64_t vocab_size = 0;
  std::vector<CacheNames> self_attention;   ///< two a layer; their past grows with each step
  std::vector<CacheNames> cross_attention;  ///< two a layer; made by the first step, then constant
  DecoderInputs first;                      ///< the graph of the first step
  DecoderInputs next;                       ///< the graph of all further steps
};

inline constexpr const char* kInputIds = "input_ids";
inline constexpr const char* kAttentionMask = "attention_mask";
inline constexpr const char* kLastHiddenState = "last_hidden_state";
inline constexpr const char* kEncoderHiddenStates = "encoder_hidden_states";
inline constexpr const char* kEncoderAttentionMask = "encoder_attention_mask";
inline constexpr const char* kUseCacheBranch = "use_cache_branch";
inline constexpr const char* kLogits = "logits";

/// Throws kInvalidData (naming file, value and what is expected) unless the graph is an encoder of
/// the contract: `input_ids`, `attention_mask` [sentence, position] in, `last_hidden_state`
/// [sentence, position, d_model] out.
void check_encoder(const GraphSignature& graph);

/// Reads the contract of decoder_model and decoder_with_past_model, or of a merged graph given as
/// both. Throws kInvalidData as above, also for an input that this library would not know to feed.
DecoderContract read_decoder_contract(const GraphSignature& first, const GraphSignature& next);

}  // namespace sampan::session
