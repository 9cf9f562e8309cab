#include "architectures/marian.h"

#include <string>
#include <utility>

#include "architectures/checkpoint_weights.h"
#include "architectures/seq2seq_graphs.h"
#include "architectures/sinusoidal_positions.h"

namespace sampan::architectures {
namespace {

using checkpoint::ModelConfig;
using graph::GraphBuilder;
using graph::Initializer;
using graph::Value;

constexpr const char* kShared = "model.shared.weight";
constexpr const char* kSource = "model.encoder.embed_tokens.weight";
constexpr const char* kTarget = "model.decoder.embed_tokens.weight";
constexpr const char* kOutput = "lm_head.weight";
constexpr const char* kOutputBias = "final_logits_bias";

/// Rows of a target embedding of its own: the target vocabulary's in converted checkpoints, the
/// source's in models that transformers made new.
std::int64_t target_rows(const checkpoint::Checkpoint& checkpoint) {
  const tensor::TensorView* table = checkpoint.weights.find(kTarget);
  const ModelConfig& config = checkpoint.config;
  const bool as_source = table != nullptr && !table->shape.empty() && !config.tie_word_embeddings &&
                         table->shape.front() == config.vocab_size;
  return as_source ? config.vocab_size : config.decoder_vocab_size;
}

/// A checkpoint may name one table several times, or drop all names of it but one.
void take_embeddings(const checkpoint::Checkpoint& checkpoint, CheckpointWeights& weights,
                     Seq2SeqFamily& family) {
  const ModelConfig& config = checkpoint.config;
  const tensor::Shape source = {config.vocab_size, config.d_model};
  const tensor::Shape target = {target_rows(checkpoint), config.d_model};
  const bool tied = config.tie_word_embeddings;
  if (config.share_encoder_decoder_embeddings) {
    family.source_embedding =
        tied ? weights.take_shared({kShared, kSource, kTarget, kOutput}, source)
             : weights.take_shared({kShared, kSource, kTarget}, source);
    family.target_embedding = family.source_embedding;
  } else {
    family.source_embedding = weights.take(kSource, source);
    family.target_embedding =
        tied ? weights.take_shared({kTarget, kOutput}, target) : weights.take(kTarget, target);
  }
  family.output_projection =
      tied ? family.target_embedding
           : weights.take(kOutput, {config.decoder_vocab_size, config.d_model});
  if (weights.has(kOutputBias))
    family.output_bias = weights.take(kOutputBias, {1, config.decoder_vocab_size});
}

/// The table of one stack, which checkpoints may leave out: it can be computed.
Initializer position_table(const ModelConfig& config, CheckpointWeights& weights,
                           const std::string& name) {
  if (weights.has(name))
    return weights.take(name, {config.max_position_embeddings, config.d_model});
  return sinusoidal_positions("sinusoidal_positions", config.max_position_embeddings,
                              config.d_model);
}

}  // namespace

Seq2SeqGraphs build_marian(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options) {
  const ModelConfig& config = checkpoint.config;
  CheckpointWeights weights(checkpoint);
  Seq2SeqFamily family;
  take_embeddings(checkpoint, weights, family);
  const Initializer source_positions =
      position_table(config, weights, "model.encoder.embed_positions.weight");
  const Initializer target_positions =
      position_table(config, weights, "model.decoder.embed_positions.weight");
  family.positions = [&](GraphBuilder& g, Side side, const TokenPlaces& places) {
    const Initializer& table = side == Side::kEncoder ? source_positions : target_positions;
    // Gather, as it refuses a position beyond the table, where Slice would give fewer rows.
    return g.node("Gather", {g.weight(table), places.indices}, {{"axis", std::int64_t{0}}});
  };
  Seq2SeqGraphs graphs = build_seq2seq(config, family, weights, options);
  weights.refuse_unused();
  return graphs;
}

}  // namespace sampan::architectures
