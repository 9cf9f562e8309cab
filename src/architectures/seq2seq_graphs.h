#pragma once

#include <functional>
#include <optional>

#include "architectures/architecture.h"
#include "architectures/checkpoint_weights.h"
#include "architectures/transformer_blocks.h"
#include "checkpoint/model_config.h"
#include "graph/graph_builder.h"

namespace sampan::architectures {

enum class Side { kEncoder, kDecoder };

/// The tokens of one call and where they stand.
struct TokenPlaces {
  graph::Value ids;      ///< [batch, length]
  graph::Value past;     ///< scalar: tokens of earlier calls; 0 in the encoder
  graph::Value indices;  ///< [length]: past, past + 1, ...
};

/// What one family of encoder-decoder transformers has around the layers that all share. Tensor
/// names are those of transformers: model.encoder.layers.0.self_attn.q_proj and so on.
struct Seq2SeqFamily {
  NormPlace norm_place = NormPlace::kPost;
  /// Whether the stacks end with model.encoder.layer_norm and model.decoder.layer_norm.
  bool final_norm = false;
  graph::Initializer source_embedding;  ///< [vocab_size, d_model]
  graph::Initializer target_embedding;  ///< [decoder_vocab_size, d_model]
  /// [decoder_vocab_size, d_model], the target embedding itself where the two are tied.
  graph::Initializer output_projection;
  std::optional<graph::Initializer> output_bias;  ///< [1, decoder_vocab_size]
  /// Adds what is added to the scaled embeddings: [length, d_model] or [batch, length, d_model].
  std::function<graph::Value(graph::GraphBuilder&, Side, const TokenPlaces&)> positions;
};

/// Builds the graphs with the names, order and axes that docs/package-format.md tells. Reports each
/// part that it builds. Throws what `CheckpointWeights` throws.
Seq2SeqGraphs build_seq2seq(const checkpoint::ModelConfig& config, const Seq2SeqFamily& family,
                            CheckpointWeights& weights, const GraphOptions& options);

}  // namespace sampan::architectures
