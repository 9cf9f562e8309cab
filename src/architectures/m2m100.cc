#include "architectures/m2m100.h"

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "architectures/checkpoint_weights.h"
#include "architectures/seq2seq_graphs.h"
#include "base/fail.h"

namespace sampan::architectures {
namespace {

using checkpoint::ModelConfig;
using graph::GraphBuilder;
using graph::Value;

/// Positions begin this far behind the table's start.
constexpr std::int64_t kOffset = 2;

/// Row p: the sines, then the cosines, of p * exp(-i log(10000) / (d_model / 2 - 1)), in single
/// precision as transformers computes them; the pad token's row is zero.
graph::Initializer position_table(const ModelConfig& config) {
  const auto rows = config.max_position_embeddings + kOffset;
  const auto write = [rows, width = config.d_model,
                      pad = config.pad_token_id](std::span<std::byte> out) {
    const std::int64_t half = width / 2;
    const auto decay = static_cast<float>(std::log(10000.0) / static_cast<double>(half - 1));
    std::vector<float> row(static_cast<std::size_t>(width));
    for (std::int64_t position = 0; position < rows; ++position) {
      for (std::int64_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(position) * std::exp(static_cast<float>(i) * -decay);
        row[static_cast<std::size_t>(i)] = position == pad ? 0.0f : std::sin(angle);
        row[static_cast<std::size_t>(half + i)] = position == pad ? 0.0f : std::cos(angle);
      }
      std::memcpy(out.data() + static_cast<std::size_t>(position) * row.size() * sizeof(float),
                  row.data(), row.size() * sizeof(float));
    }
  };
  return {"sinusoidal_positions",
          tensor::DType::kF32,
          {rows, config.d_model},
          graph::DataSource(write)};
}

}  // namespace

Seq2SeqGraphs build_m2m100(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options) {
  const ModelConfig& config = checkpoint.config;
  if (config.d_model < 4)
    base::fail(ErrorCode::kUnsupported, "{}: d_model {} is too narrow for sinusoidal positions",
               (checkpoint.folder / "config.json").string(), config.d_model);
  CheckpointWeights weights(checkpoint);
  Seq2SeqFamily family;
  family.norm_place = NormPlace::kPre;
  family.final_norm = true;
  const tensor::Shape table_shape = {config.vocab_size, config.d_model};
  constexpr const char *kShared = "model.shared.weight", *kOutput = "lm_head.weight";
  constexpr const char *kSource = "model.encoder.embed_tokens.weight",
                       *kTarget = "model.decoder.embed_tokens.weight";
  if (config.tie_word_embeddings) {
    family.source_embedding =
        weights.take_shared({kShared, kSource, kTarget, kOutput}, table_shape);
    family.output_projection = family.source_embedding;
  } else {
    family.source_embedding = weights.take_shared({kShared, kSource, kTarget}, table_shape);
    family.output_projection = weights.take(kOutput, table_shape);
  }
  family.target_embedding = family.source_embedding;
  const graph::Initializer positions = position_table(config);
  family.positions = [&](GraphBuilder& g, Side, const TokenPlaces& places) {
    const Value pad = g.int_scalar(config.pad_token_id);
    const Value is_token = g.node("Not", {g.node("Equal", {places.ids, pad})});
    const Value counted = g.node("Cast", {is_token}, {{"to", std::int64_t{7}}});  // INT64
    const Value count = g.node("Add", {g.node("CumSum", {counted, g.int_scalar(1)}), places.past});
    const Value rows = g.node("Add", {g.node("Mul", {count, counted}), pad});
    return g.node("Gather", {g.weight(positions), rows}, {{"axis", std::int64_t{0}}});
  };
  Seq2SeqGraphs graphs = build_seq2seq(config, family, weights, options);
  weights.refuse_unused();
  return graphs;
}

}  // namespace sampan::architectures
