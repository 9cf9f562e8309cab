#include "reference/marian.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/fail.h"
#include "reference/weights.h"

namespace sampan::reference {
namespace {

void report(const Observer& observe, std::string_view stack, Index layer, std::string_view part,
            const Matrix& value) {
  if (observe) observe(fmt::format("{}.layers.{}.{}", stack, layer, part), value);
}

void append_row(Matrix& matrix, const Matrix& rows, Index row) {
  matrix.conservativeResize(matrix.rows() + 1, rows.cols());
  matrix.row(matrix.rows() - 1) = rows.row(row);
}

double activate(checkpoint::Activation activation, double x) {
  switch (activation) {
    case checkpoint::Activation::kSilu: return x / (1.0 + std::exp(-x));
    case checkpoint::Activation::kRelu: return x > 0.0 ? x : 0.0;
    case checkpoint::Activation::kGelu: return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case checkpoint::Activation::kGeluTanh: {
      const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1.0 + std::tanh(inner));
    }
  }
  base::fail(ErrorCode::kInternal, "activation {} is not known to the reference",
             static_cast<int>(activation));
}

}  // namespace

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
    const Index rows = weights.rows(name) == config.vocab_size ? config.vocab_size
                                                               : config.decoder_vocab_size;
    decoder_.embedding = load_embedding(name, rows);
  }
  const Index width = config.tie_word_embeddings ? decoder_.embedding->rows()
                                                 : static_cast<Index>(config.decoder_vocab_size);
  if (!config.tie_word_embeddings) logits_.weight = weights.matrix("lm_head.weight", width, d_model);
  logits_.bias = weights.has("final_logits_bias") ? weights.vector("final_logits_bias", width)
                                                  : RowVector::Zero(width);
}

Matrix Marian::embed(const Stack& stack, std::span<const std::int64_t> ids,
                     std::span<const Index> positions) const {
  Matrix x(static_cast<Index>(ids.size()), stack.embedding->cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const std::int64_t id = ids[static_cast<std::size_t>(row)];
    const Index position = positions[static_cast<std::size_t>(row)];
    if (id < 0 || id >= stack.embedding->rows())
      base::fail(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", id,
                 stack.embedding->rows());
    if (position >= stack.positions.rows())
      base::fail(ErrorCode::kInvalidArgument, "position {} is beyond the model's {}; shorten the text",
                 position, stack.positions.rows());
    x.row(row) = embedding_scale_ * stack.embedding->row(id) + stack.positions.row(position);
  }
  return x;
}

Matrix Marian::feed_forward(const Layer& layer, const Matrix& x) const {
  return layer.contract(
      layer.expand(x).unaryExpr([this](double value) { return activate(activation_, value); }));
}

Matrix Marian::encode(std::span<const std::int64_t> ids, const Observer& observe) const {
  std::vector<Index> positions(ids.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<Index>(i);
  Matrix x = embed(encoder_, ids, positions);
  if (observe) observe("encoder.embedding", x);

  for (std::size_t i = 0; i < encoder_.layers.size(); ++i) {
    const Layer& layer = encoder_.layers[i];
    const auto tell = [&](std::string_view part, const Matrix& value) {
      report(observe, "encoder", static_cast<Index>(i), part, value);
    };
    const Attention& self = layer.self_attention;
    const Matrix query = self.query(x), key = self.key(x), value = self.value(x);
    tell("self_attn.q_proj", query);
    tell("self_attn.k_proj", key);
    tell("self_attn.v_proj", value);
    const Matrix attended = self.output(attend(query, key, value, self.heads));
    tell("self_attn", attended);
    x = layer.norms.self_attention(x + attended);
    tell("self_attn_layer_norm", x);
    const Matrix fed = feed_forward(layer, x);
    tell("fc2", fed);
    x = layer.norms.feed_forward(x + fed);
    tell("final_layer_norm", x);
  }
  return x;
}

Marian::Target Marian::start(const Matrix& encoder_states, const Observer& observe) const {
  Target target;
  for (std::size_t i = 0; i < decoder_.layers.size(); ++i) {
    const Attention& cross = decoder_.layers[i].cross_attention;
    LayerCache cache;
    cache.cross_key = cross.key(encoder_states);
    cache.cross_value = cross.value(encoder_states);
    report(observe, "decoder", static_cast<Index>(i), "encoder_attn.k_proj", cache.cross_key);
    report(observe, "decoder", static_cast<Index>(i), "encoder_attn.v_proj", cache.cross_value);
    target.layers.push_back(std::move(cache));
  }
  return target;
}

Matrix Marian::decode(std::span<const Row> rows, const Observer& observe) const {
  std::vector<std::int64_t> ids;
  std::vector<Index> positions;
  for (const Row& row : rows) {
    ids.push_back(row.token);
    positions.push_back(row.target->length++);
  }
  Matrix x = embed(decoder_, ids, positions);
  if (observe) observe("decoder.embedding", x);

  for (std::size_t i = 0; i < decoder_.layers.size(); ++i) {
    const Layer& layer = decoder_.layers[i];
    const auto tell = [&](std::string_view part, const Matrix& value) {
      report(observe, "decoder", static_cast<Index>(i), part, value);
    };
    const Attention& self = layer.self_attention;
    const Matrix query = self.query(x), key = self.key(x), value = self.value(x);
    tell("self_attn.q_proj", query);
    tell("self_attn.k_proj", key);
    tell("self_attn.v_proj", value);
    Matrix attended(x.rows(), x.cols());
    for (Index row = 0; row < x.rows(); ++row) {  // in order: a token sees itself and those before
      LayerCache& cache = rows[static_cast<std::size_t>(row)].target->layers[i];
      append_row(cache.self_key, key, row);
      append_row(cache.self_value, value, row);
      attended.row(row) = attend(query.row(row), cache.self_key, cache.self_value, self.heads);
    }
    attended = self.output(attended);
    tell("self_attn", attended);
    x = layer.norms.self_attention(x + attended);
    tell("self_attn_layer_norm", x);

    const Attention& cross = layer.cross_attention;
    const Matrix question = cross.query(x);
    tell("encoder_attn.q_proj", question);
    for (Index row = 0; row < x.rows(); ++row) {
      const LayerCache& cache = rows[static_cast<std::size_t>(row)].target->layers[i];
      attended.row(row) =
          attend(question.row(row), cache.cross_key, cache.cross_value, cross.heads);
    }
    attended = cross.output(attended);
    tell("encoder_attn", attended);
    x = layer.norms.cross_attention(x + attended);
    tell("encoder_attn_layer_norm", x);

    const Matrix fed = feed_forward(layer, x);
    tell("fc2", fed);
    x = layer.norms.feed_forward(x + fed);
    tell("final_layer_norm", x);
  }

  const Matrix& projection = logits_.weight.size() > 0 ? logits_.weight : *decoder_.embedding;
  Matrix logits = x * projection.transpose();
  logits.rowwise() += logits_.bias;
  if (observe) observe("logits", logits);
  return logits;
}

}  // namespace sampan::reference
