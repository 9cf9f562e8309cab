#include "optimizer/fused_graphs.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "package/fused_layout.h"
#include "sampan/version.h"

namespace sampan::optimizer {
namespace {

namespace fused = package::fused;
using checkpoint::Activation;
using graph::Dim;
using graph::GraphBuilder;
using graph::Initializer;
using graph::Operator;
using graph::Value;
using graph::ValueInfo;
using tensor::DType;

const Dim kSentences = "sentences";
const Dim kSource = "source";
const Dim kRows = "rows";
const Dim kLength = "length";
const Dim kCapacity = "capacity";
constexpr float kNormEpsilon = 1e-5f;

/// What differs between the families whose graphs this program exports.
struct Family {
  bool pre_norm = false;            ///< blocks normalise their input, and a norm ends each stack
  std::int64_t first_position = 0;  ///< row of the table of positions for the first token
};

Family family_of(const checkpoint::ModelConfig& config) {
  if (config.model_type == "marian") return {};
  if (config.model_type == "m2m_100") return {true, config.pad_token_id + 1};
  base::fail(ErrorCode::kUnsupported,
             "model family '{}' has no fused form; use the portable package", config.model_type);
}

/// The rows of a table from `first` on.
Initializer rows_from(const Initializer& table, std::int64_t first) {
  if (first == 0) return table;
  Initializer rows = table;
  rows.name += ".used";
  rows.shape.front() -= first;
  rows.data = graph::DataSource([table, first](std::span<std::byte> out) {
    const std::vector<float> values = floats_of(table);
    const auto skipped = static_cast<std::size_t>(first * table.shape.back());
    const auto bytes = std::as_bytes(std::span(values).subspan(skipped));
    std::copy(bytes.begin(), bytes.end(), out.begin());
  });
  return rows;
}

class FusedBuilder {
 public:
  FusedBuilder(const checkpoint::ModelConfig& config, const PortableWeights& weights,
               const Projections& projections)
      : config_(config), weights_(weights), projections_(projections), family_(family_of(config)) {}

  graph::Model encoder() {
    GraphBuilder g("encoder");
    const Value ids = g.input({fused::kInputIds, DType::kI64, {{kSentences, kSource}}});
    const Value places = g.input({fused::kPositions, DType::kI64, {{kSource}}});
    const Value lengths = g.input({fused::kSourceLengths, DType::kI32, {{kSentences}}});
    {
      const auto scope = g.scope("encoder");
      Value states = embed(g, weights_.source(), {ids, places});
      for (std::int64_t i = 0; i < config_.encoder_layers; ++i) {
        const auto layer = g.scope(fmt::format("layers.{}", i));
        states = encoder_layer(g, states, lengths, fmt::format("model.encoder.layers.{}", i));
      }
      if (family_.pre_norm) states = norm(g, states, "model.encoder.layer_norm");
      g.output(states,
               {fused::kLastHiddenState, DType::kF32, {{kSentences, kSource, config_.d_model}}});
      g.output(cross_attention(g, states),
               {fused::kCrossAttention,
                DType::kF32,
                {{2 * config_.decoder_layers, kSentences, config_.decoder_attention_heads, kSource,
                  config_.decoder_head_dim()}}});
    }
    return model_of(std::move(g).build());
  }

  graph::Model decoder() {
    GraphBuilder g("decoder");
    DecoderInputs inputs;
    inputs.ids = g.input({fused::kInputIds, DType::kI64, {{kRows, kLength}}});
    inputs.places = g.input({fused::kPositions, DType::kI64, {{kRows, kLength}}});
    inputs.row_shape = g.input({fused::kRowShape, DType::kI64, {{std::int64_t{3}}}});
    inputs.query_shape = g.input({fused::kQueryShape, DType::kI64, {{std::int64_t{3}}}});
    inputs.last_positions = g.input({fused::kLastPositions, DType::kI32, {{kRows}}});
    inputs.total_length = g.input({fused::kTotalLength, DType::kI32, {{std::int64_t{1}}}});
    inputs.source_lengths = g.input({fused::kSourceLengths, DType::kI32, {{kSentences}}});
    std::vector<LayerCache> caches(static_cast<std::size_t>(config_.decoder_layers));
    for (std::size_t i = 0; i < caches.size(); ++i)
      caches[i].past = cache_inputs(g, fused::kPast, i, {kRows, kCapacity});
    for (std::size_t i = 0; i < caches.size(); ++i)
      caches[i].cross = cache_inputs(g, fused::kCross, i, {kSentences, kSource});
    {
      const auto scope = g.scope("decoder");
      Value states = embed(g, weights_.target(), {inputs.ids, inputs.places});
      for (std::size_t i = 0; i < caches.size(); ++i) {
        const auto layer = g.scope(fmt::format("layers.{}", i));
        states =
            decoder_layer(g, states, inputs, caches[i], fmt::format("model.decoder.layers.{}", i));
      }
      if (family_.pre_norm) states = norm(g, states, "model.decoder.layer_norm");
      const Value tokens = g.node("Reshape", {states, g.int_vector({-1, config_.d_model})});
      g.output(projections_.decoder.logits(g, tokens),
               {fused::kLogits, DType::kF32, {{"tokens", config_.decoder_vocab_size}}});
    }
    for (std::size_t i = 0; i < caches.size(); ++i)
      for (std::size_t part = 0; part < 2; ++part)
        g.output(caches[i].present[part], cache_info(fused::kPresent, i, part, {kRows, kCapacity}));
    return model_of(std::move(g).build());
  }

 private:
  struct Tokens {
    Value ids;
    Value places;
  };
  struct DecoderInputs {
    Value ids, places, row_shape, query_shape, last_positions, total_length, source_lengths;
  };
  struct LayerCache {
    std::vector<Value> past, cross, present;  ///< key, value
  };
  /// Outer and length axis of a cache tensor.
  using CacheAxes = std::pair<Dim, Dim>;
  using Block = std::function<Value(const Value&)>;

  ValueInfo cache_info(const char* kind, std::size_t layer, std::size_t part,
                       const CacheAxes& axes) const {
    return {
        fused::layer_tensor(kind, layer, fused::kParts[part]),
        DType::kF32,
        {{axes.first, config_.decoder_attention_heads, axes.second, config_.decoder_head_dim()}}};
  }

  std::vector<Value> cache_inputs(GraphBuilder& g, const char* kind, std::size_t layer,
                                  const CacheAxes& axes) const {
    return {g.input(cache_info(kind, layer, 0, axes)), g.input(cache_info(kind, layer, 1, axes))};
  }

  Value embed(GraphBuilder& g, const PortableWeights::Embedding& embedding,
              const Tokens& tokens) const {
    const auto scope = g.scope("embed");
    const double scale =
        config_.scale_embedding ? std::sqrt(static_cast<double>(config_.d_model)) : 1.0;
    const Value rows =
        projections_.decoder.embed(g, tokens.ids, embedding.table, static_cast<float>(scale));
    const Initializer positions = rows_from(embedding.positions, family_.first_position);
    const Value places =
        g.node("Gather", {g.weight(positions), tokens.places}, {{"axis", std::int64_t{0}}});
    return g.node("Add", {rows, places});
  }

  Value norm(GraphBuilder& g, const Value& states, const std::string& module) const {
    return g.node("LayerNormalization",
                  {states, g.weight(weights_.find(module + ".weight")),
                   g.weight(weights_.find(module + ".bias"))},
                  {{"axis", std::int64_t{-1}}, {"epsilon", kNormEpsilon}});
  }

  /// A block with its residual connection and norm.
  Value residual(GraphBuilder& g, const Value& states, const std::string& module,
                 const Block& block) const {
    if (family_.pre_norm) return g.node("Add", {block(norm(g, states, module)), states});
    return norm(g, g.node("Add", {block(states), states}), module);
  }

  Value activate(GraphBuilder& g, const Value& x) const {
    switch (config_.activation_function) {
      case Activation::kSilu:
        return g.node(Operator(kMicrosoft, "QuickGelu"), {x}, {{"alpha", 1.0f}});
      case Activation::kRelu:
        return g.node("Relu", {x});
      case Activation::kGelu:
        return g.node(Operator(kMicrosoft, "Gelu"), {x});
      case Activation::kGeluTanh:
        return g.node(Operator(kMicrosoft, "FastGelu"), {x});
    }
    return x;
  }

  Value feed_forward(GraphBuilder& g, Projection& projection, const Value& x,
                     const std::string& layer) const {
    const Value wide = projection.linear(g, x, {layer + ".fc1", {layer + ".fc1"}});
    return projection.linear(g, activate(g, wide), {layer + ".fc2", {layer + ".fc2"}});
  }

  Value encoder_layer(GraphBuilder& g, const Value& states, const Value& lengths,
                      const std::string& layer) const {
    Projection& projection = projections_.encoder;
    const std::string attention = layer + ".self_attn";
    const Value attended =
        residual(g, states, layer + ".self_attn_layer_norm", [&](const Value& x) {
          const std::vector<Value> parts =
              g.node_with_outputs("Split", {self_projection(g, projection, x, attention)}, 3,
                                  {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{3}}});
          const Value heads = g.node(Operator(kMicrosoft, "MultiHeadAttention"),
                                     {parts[0], parts[1], parts[2], Value{}, lengths},
                                     {{"num_heads", config_.encoder_attention_heads}});
          return out_projection(g, projection, heads, attention);
        });
    return residual(g, attended, layer + ".final_layer_norm",
                    [&](const Value& x) { return feed_forward(g, projection, x, layer); });
  }

  Value decoder_layer(GraphBuilder& g, const Value& states, const DecoderInputs& inputs,
                      LayerCache& cache, const std::string& layer) const {
    Projection& projection = projections_.decoder;
    const std::int64_t heads = config_.decoder_attention_heads;
    const Value attended =
        residual(g, states, layer + ".self_attn_layer_norm", [&](const Value& x) {
          const std::string attention = layer + ".self_attn";
          const std::vector<Value> made = g.node_with_outputs(
              Operator(kMicrosoft, "GroupQueryAttention"),
              {self_projection(g, projection, x, attention), Value{}, Value{}, cache.past[0],
               cache.past[1], inputs.last_positions, inputs.total_length},
              3, {{"num_heads", heads}, {"kv_num_heads", heads}});
          cache.present = {made[1], made[2]};
          return out_projection(g, projection, made[0], attention);
        });
    const Value crossed =
        residual(g, attended, layer + ".encoder_attn_layer_norm", [&](const Value& x) {
          const std::string attention = layer + ".encoder_attn";
          const std::string module = attention + ".q_proj";
          const Value queries =
              g.node("Reshape", {projection.linear(g, x, {module, {module}}), inputs.query_shape});
          const Value attended_source =
              g.node(Operator(kMicrosoft, "MultiHeadAttention"),
                     {queries, cache.cross[0], cache.cross[1], Value{}, inputs.source_lengths},
                     {{"num_heads", heads}});
          const Value rows = g.node("Reshape", {attended_source, inputs.row_shape});
          return out_projection(g, projection, rows, attention);
        });
    return residual(g, crossed, layer + ".final_layer_norm",
                    [&](const Value& x) { return feed_forward(g, projection, x, layer); });
  }

  Value self_projection(GraphBuilder& g, Projection& projection, const Value& x,
                        const std::string& attention) const {
    return projection.linear(
        g, x,
        {attention + ".qkv",
         {attention + ".q_proj", attention + ".k_proj", attention + ".v_proj"}});
  }

  Value out_projection(GraphBuilder& g, Projection& projection, const Value& heads,
                       const std::string& attention) const {
    const std::string module = attention + ".out_proj";
    return projection.linear(g, heads, {module, {module}});
  }

  /// Keys and values of all decoder layers: [2 layers, sentences, heads, source, head_dim].
  Value cross_attention(GraphBuilder& g, const Value& states) const {
    const auto scope = g.scope("cross_attention");
    Linear all{"model.decoder.cross_attention", {}};
    for (std::int64_t i = 0; i < config_.decoder_layers; ++i)
      for (const char* part : {"k_proj", "v_proj"})
        all.modules.push_back(fmt::format("model.decoder.layers.{}.encoder_attn.{}", i, part));
    const Value split = g.node(
        "Reshape", {projections_.encoder.linear(g, states, all),
                    g.int_vector({0, 0, 2 * config_.decoder_layers, config_.decoder_attention_heads,
                                  config_.decoder_head_dim()})});
    return g.node("Transpose", {split}, {{"perm", std::vector<std::int64_t>{2, 0, 3, 1, 4}}});
  }

  static graph::Model model_of(graph::Graph graph) {
    graph::Model model;
    model.ir_version = 8;
    model.producer_name = "sampan";
    model.producer_version = version();
    model.opset_imports = {{"", kFusedOpset}, {kMicrosoft, 1}};
    model.graph = std::move(graph);
    return model;
  }

  const checkpoint::ModelConfig& config_;
  const PortableWeights& weights_;
  Projections projections_;
  Family family_;
};

}  // namespace

FusedModels build_fused(const checkpoint::ModelConfig& config, const PortableWeights& weights,
                        const Projections& projections) {
  FusedBuilder builder(config, weights, projections);
  FusedModels models;
  models.encoder = builder.encoder();
  models.decoder = builder.decoder();
  return models;
}

}  // namespace sampan::optimizer
