#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "architectures/checkpoint_weights.h"
#include "checkpoint/model_config.h"
#include "graph/graph_builder.h"

namespace sampan::architectures {

/// Where a layer normalises: after adding a block's output to its input ("Attention Is All You
/// Need", arXiv:1706.03762) or the block's input before ("On Layer Normalization in the Transformer
/// Architecture", arXiv:2002.04745).
enum class NormPlace { kPost, kPre };

/// What the blocks of one stack (an encoder or a decoder) have in common.
struct BlockOptions {
  std::int64_t opset = 17;
  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t ffn_dim = 0;
  checkpoint::Activation activation = checkpoint::Activation::kSilu;
  NormPlace norm_place = NormPlace::kPost;
};

/// Keys and values of one attention: [batch, heads, length, d_model / heads].
struct KeyValue {
  graph::Value key;
  graph::Value value;
};

/// What a decoder layer reads besides the hidden states.
struct DecoderLayerContext {
  graph::Value causal_bias;  ///< added to self-attention scores: [length, past + length]
  graph::Value cross_bias;   ///< added to cross-attention scores: [batch, 1, 1, source]
  /// Keys and values of earlier tokens; nothing in the first call.
  std::optional<KeyValue> past_self;
  /// Cross-attention keys and values of the first call; nothing in it: they are computed.
  std::optional<KeyValue> past_cross;
  graph::Value encoder_states;  ///< [batch, source, d_model]; read without `past_cross` only
};

struct DecoderLayerResult {
  graph::Value states;
  KeyValue self;  ///< with the past
  KeyValue cross;
};

/// Adds the blocks of a transformer to a graph. Hidden states are [batch, length, d_model];
/// `prefix` is the name of a checkpoint module ("model.encoder.layers.0"). Weights are taken from
/// the checkpoint; see there for errors.
class TransformerBlocks {
 public:
  TransformerBlocks(graph::GraphBuilder& builder, CheckpointWeights& weights,
                    const BlockOptions& options)
      : g_(builder), weights_(weights), options_(options) {}

  /// self_attn and fc1, fc2 with their norms.
  graph::Value encoder_layer(const graph::Value& states, const graph::Value& attention_bias,
                             const std::string& prefix);
  /// self_attn, encoder_attn and fc1, fc2 with their norms.
  DecoderLayerResult decoder_layer(const graph::Value& states, const DecoderLayerContext& context,
                                   const std::string& prefix);
  /// LayerNorm over the last axis with epsilon 1e-5 (arXiv:1607.06450).
  graph::Value layer_norm(const graph::Value& states, const std::string& prefix);

 private:
  using Block = std::function<graph::Value(const graph::Value&)>;

  /// A block with its residual connection and norm.
  graph::Value residual(const graph::Value& states, const std::string& norm, const Block& block);
  graph::Value feed_forward(const graph::Value& states, const std::string& prefix);
  graph::Value activate(const graph::Value& x);
  graph::Value linear(const graph::Value& x, const std::string& prefix, std::int64_t in,
                      std::int64_t out);
  /// softmax(q k^T / sqrt(head width) + bias) v, projected; q comes from `states`.
  graph::Value attend(const graph::Value& states, const KeyValue& memory, const graph::Value& bias,
                      const std::string& prefix);
  KeyValue keys_and_values(const graph::Value& states, const std::string& prefix);
  /// A projection of the states, split among the heads.
  graph::Value project_heads(const graph::Value& states, const std::string& prefix);

  graph::GraphBuilder& g_;
  CheckpointWeights& weights_;
  BlockOptions options_;
};

}  // namespace sampan::architectures
