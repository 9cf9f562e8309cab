#include "reference/marian.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/fail.h"
#include "reference/weights.h"

namespace sampan::reference {
namespace {

void append_rows(Matrix& matrix, const Matrix& rows, Index first, Index count) {
  matrix.conservativeResize(matrix.rows() + count, rows.cols());
  matrix.bottomRows(count) = rows.middleRows(first, count);
}

/// Calls `action` with the first row and the number of rows of each run of one target.
template <typename Action>
void each_target(std::span<const Marian::Row> rows, Action action) {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && rows[end].target == rows[first].target) ++end;
    action(*rows[first].target, static_cast<Index>(first), static_cast<Index>(end - first));
    first = end;
  }
}

double activate(checkpoint::Activation activation, double x) {
  switch (activation) {
    case checkpoint::Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case checkpoint::Activation::kRelu:
      return x > 0.0 ? x : 0.0;
    case checkpoint::Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case checkpoint::Activation::kGeluTanh: {
      const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1.0 + std::tanh(inner));
    }
  }
  base::fail(ErrorCode::kInternal, "activation {} is not known to the reference",
             static_cast<int>(activation));
}

}  // namespace

class Marian::Watch {
 public:
  Watch(const Observer& observe, std::string module)
      : observe_(observe), module_(std::move(module)) {}

  /// A part of this module.
  Watch operator/(std::string_view part) const {
    return observe_ ? Watch(observe_, fmt::format("{}.{}", module_, part)) : *this;
  }
  void operator()(Matrix& value) const {
    if (observe_) observe_(module_, value);
  }

 private:
  const Observer& observe_;
  std::string module_;
};

Marian::Marian(const checkpoint::Checkpoint& checkpoint)
    : activation_(checkpoint.config.activation_function),
      embedding_scale_(checkpoint.config.scale_embedding
                           ? std::sqrt(static_cast<double>(checkpoint.config.d_model))
                           : 1.0) {
  const checkpoint::ModelConfig& config = checkpoint.config;
  if (config.model_type != "marian")
    base::fail(ErrorCode::kUnsupported, "{}: the reference knows model_type 'marian', not '{}'",
               checkpoint.folder.string(), config.model_type);
  const Weights weights(checkpoint);
  const Index d_model = config.d_model;

  const auto load_stack = [&](const std::string& name, Index layers, Index heads, Index ffn_dim) {
    Stack stack;
    const std::string positions = "model." + name + ".embed_positions.weight";
    stack.positions = weights.has(positions)
                          ? weights.matrix(positions, config.max_position_embeddings, d_model)
                          : sinusoidal_positions(config.max_position_embeddings, d_model);
    for (Index i = 0; i < layers; ++i) {
      const std::string module = fmt::format("model.{}.layers.{}", name, i);
      Layer layer;
      layer.self_attention = weights.attention(module + ".self_attn", d_model, heads);
      layer.norms.self_attention = weights.layer_norm(module + ".self_attn_layer_norm", d_model);
      if (name == "decoder") {
        layer.cross_attention = weights.attention(module + ".encoder_attn", d_model, heads);
        layer.norms.cross_attention =
            weights.layer_norm(module + ".encoder_attn_layer_norm", d_model);
      }
      layer.expand = weights.linear(module + ".fc1", ffn_dim, d_model);
      layer.contract = weights.linear(module + ".fc2", d_model, ffn_dim);
      layer.norms.feed_forward = weights.layer_norm(module + ".final_layer_norm", d_model);
      stack.layers.push_back(std::move(layer));
    }
    return stack;
  };
  encoder_ = load_stack("encoder", config.encoder_layers, config.encoder_attention_heads,
                        config.encoder_ffn_dim);
  decoder_ = load_stack("decoder", config.decoder_layers, config.decoder_attention_heads,
                        config.decoder_ffn_dim);

  const auto load_embedding = [&](const std::string& name, Index rows) {
    return std::make_shared<const Matrix>(weights.matrix(name, rows, d_model));
  };
  if (config.share_encoder_decoder_embeddings) {
    encoder_.embedding = load_embedding("model.shared.weight", config.vocab_size);
    decoder_.embedding = encoder_.embedding;
  } else {
    encoder_.embedding = load_embedding("model.encoder.embed_tokens.weight", config.vocab_size);
    // transformers gives a fresh decoder table the rows of the encoder's; converted checkpoints
    // carry the target vocabulary's own number.
    const std::string name = "model.decoder.embed_tokens.weight";
    const Index rows =
        weights.rows(name) == config.vocab_size ? config.vocab_size : config.decoder_vocab_size;
    decoder_.embedding = load_embedding(name, rows);
  }
  const Index width = config.tie_word_embeddings ? decoder_.embedding->rows()
                                                 : static_cast<Index>(config.decoder_vocab_size);
  if (!config.tie_word_embeddings)
    logits_.weight = weights.matrix("lm_head.weight", width, d_model);
  logits_.bias = weights.has("final_logits_bias") ? weights.vector("final_logits_bias", width)
                                                  : RowVector::Zero(width);
}

Matrix Marian::embed(const Stack& stack, std::span<const std::int64_t> ids,
                     std::span<const Index> positions, const Watch& watch) const {
  Matrix x(static_cast<Index>(ids.size()), stack.embedding->cols());
  Matrix places(x.rows(), x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const std::int64_t id = ids[static_cast<std::size_t>(row)];
    const Index position = positions[static_cast<std::size_t>(row)];
    if (id < 0 || id >= stack.embedding->rows())
      base::fail(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", id,
                 stack.embedding->rows());
    if (position >= stack.positions.rows())
      base::fail(ErrorCode::kInvalidArgument,
                 "position {} is beyond the model's {}; shorten the text", position,
                 stack.positions.rows());
    x.row(row) = stack.embedding->row(id);
    places.row(row) = stack.positions.row(position);
  }
  (watch / "embed_tokens")(x);
  x *= embedding_scale_;
  (watch / "embed_scale")(x);
  (watch / "embed_positions")(places);
  x += places;
  (watch / "embedding")(x);
  return x;
}

Matrix Marian::project(const Linear& linear, const Matrix& x, const Watch& watch) {
  Matrix y = linear.product(x);
  (watch / "product")(y);
  y.rowwise() += linear.bias;
  watch(y);
  return y;
}

Matrix Marian::attend(const Matrix& query, const LayerMemory& memory, const Watch& watch) {
  Matrix weights = attention_scores(query, memory.key, memory.heads);
  if (memory.causal) hide_later_positions(weights, memory.heads);
  (watch / "scores")(weights);
  softmax_rows(weights);
  (watch / "probabilities")(weights);
  Matrix result = weighted_values(weights, memory.value, memory.heads);
  (watch / "context")(result);
  return result;
}

Matrix Marian::add_and_norm(const LayerNorm& norm, const Matrix& x, const Matrix& change,
                            const Watch& watch) {
  Matrix sum = x + change;
  (watch / "input")(sum);
  Matrix y = norm(sum);
  watch(y);
  return y;
}

Matrix Marian::feed_forward(const Layer& layer, const Matrix& x, const Watch& watch) const {
  Matrix wide = project(layer.expand, x, watch / "fc1");
  wide = wide.unaryExpr([this](double value) { return activate(activation_, value); });
  (watch / "activation")(wide);
  return project(layer.contract, wide, watch / "fc2");
}

Matrix Marian::encode(std::span<const std::int64_t> ids, const Observer& observe) const {
  const Watch watch(observe, "encoder");
  std::vector<Index> positions(ids.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<Index>(i);
  Matrix x = embed(encoder_, ids, positions, watch);

  for (std::size_t i = 0; i < encoder_.layers.size(); ++i) {
    const Layer& layer = encoder_.layers[i];
    const Watch here = watch / fmt::format("layers.{}", i);
    const Watch inside = here / "self_attn";
    const Attention& self = layer.self_attention;
    const Matrix query = project(self.query, x, inside / "q_proj");
    const Matrix key = project(self.key, x, inside / "k_proj");
    const Matrix value = project(self.value, x, inside / "v_proj");
    const Matrix attended =
        project(self.output, attend(query, {key, value, self.heads}, inside), inside / "out_proj");
    x = add_and_norm(layer.norms.self_attention, x, attended, here / "self_attn_layer_norm");
    x = add_and_norm(layer.norms.feed_forward, x, feed_forward(layer, x, here),
                     here / "final_layer_norm");
  }
  return x;
}

Marian::Target Marian::start(const Matrix& encoder_states, const Observer& observe) const {
  Target target;
  for (std::size_t i = 0; i < decoder_.layers.size(); ++i) {
    const Attention& cross = decoder_.layers[i].cross_attention;
    const Watch watch(observe, fmt::format("decoder.layers.{}.encoder_attn", i));
    LayerCache cache;
    cache.cross_key = project(cross.key, encoder_states, watch / "k_proj");
    cache.cross_value = project(cross.value, encoder_states, watch / "v_proj");
    (watch / "keys")(cache.cross_key);
    (watch / "values")(cache.cross_value);
    target.layers.push_back(std::move(cache));
  }
  return target;
}

Matrix Marian::self_attend(std::size_t layer, const Matrix& x, std::span<const Row> rows,
                           const Watch& watch) const {
  const Attention& self = decoder_.layers[layer].self_attention;
  const Matrix query = project(self.query, x, watch / "q_proj");
  const Matrix key = project(self.key, x, watch / "k_proj");
  const Matrix value = project(self.value, x, watch / "v_proj");
  Matrix context(x.rows(), x.cols());
  each_target(rows, [&](Target& target, Index first, Index count) {
    LayerCache& cache = target.layers[layer];
    append_rows(cache.self_key, key, first, count);
    append_rows(cache.self_value, value, first, count);
    (watch / "keys")(cache.self_key);
    (watch / "values")(cache.self_value);
    context.middleRows(first, count) =
        attend(query.middleRows(first, count), {cache.self_key, cache.self_value, self.heads, true},
               watch);
  });
  return project(self.output, context, watch / "out_proj");
}

Matrix Marian::cross_attend(std::size_t layer, const Matrix& x, std::span<const Row> rows,
                            const Watch& watch) const {
  const Attention& cross = decoder_.layers[layer].cross_attention;
  const Matrix query = project(cross.query, x, watch / "q_proj");
  Matrix context(x.rows(), x.cols());
  each_target(rows, [&](const Target& target, Index first, Index count) {
    const LayerCache& cache = target.layers[layer];
    context.middleRows(first, count) = attend(
        query.middleRows(first, count), {cache.cross_key, cache.cross_value, cross.heads}, watch);
  });
  return project(cross.output, context, watch / "out_proj");
}

Matrix Marian::decode(std::span<const Row> rows, const Observer& observe) const {
  const Watch watch(observe, "decoder");
  std::vector<std::int64_t> ids;
  std::vector<Index> positions;
  for (const Row& row : rows) {
    ids.push_back(row.token);
    positions.push_back(row.target->length++);
  }
  Matrix x = embed(decoder_, ids, positions, watch);

  for (std::size_t i = 0; i < decoder_.layers.size(); ++i) {
    const Layer& layer = decoder_.layers[i];
    const Watch here = watch / fmt::format("layers.{}", i);
    x = add_and_norm(layer.norms.self_attention, x, self_attend(i, x, rows, here / "self_attn"),
                     here / "self_attn_layer_norm");
    x = add_and_norm(layer.norms.cross_attention, x,
                     cross_attend(i, x, rows, here / "encoder_attn"),
                     here / "encoder_attn_layer_norm");
    x = add_and_norm(layer.norms.feed_forward, x, feed_forward(layer, x, here),
                     here / "final_layer_norm");
  }

  const Matrix& projection = logits_.weight.size() > 0 ? logits_.weight : *decoder_.embedding;
  Matrix logits = x * projection.transpose();
  (watch / "lm_head.product")(logits);
  logits.rowwise() += logits_.bias;
  (watch / "lm_head")(logits);
  return logits;
}

}  // namespace sampan::reference
