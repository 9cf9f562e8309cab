#include "architectures/seq2seq_graphs.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "architectures/merged_decoder.h"
#include "sampan/version.h"

namespace sampan::architectures {
namespace {

using graph::Dim;
using graph::GraphBuilder;
using graph::Value;
using graph::ValueInfo;
using tensor::DType;

// The names of axes are a contract: other loaders resolve sizes by them.
const Dim kBatch = "batch_size";
const Dim kSource = "encoder_sequence_length";
const Dim kTarget = "decoder_sequence_length";
const Dim kPast = "past_decoder_sequence_length";
const Dim kPastAndTarget = "past_decoder_sequence_length + decoder_sequence_length";

/// transformers' mask value: finite, so that a row without any token to attend to gives equal
/// weights rather than NaN.
constexpr float kMasked = std::numeric_limits<float>::lowest();

enum class DecoderKind { kFirst, kWithPast };

class Seq2SeqBuilder {
 public:
  Seq2SeqBuilder(const checkpoint::ModelConfig& config, const Seq2SeqFamily& family,
                 CheckpointWeights& weights, const GraphOptions& options)
      : config_(config), family_(family), weights_(weights), options_(options) {}

  graph::Model encoder() {
    GraphBuilder g("encoder");
    const Value ids = g.input({"input_ids", DType::kI64, {{kBatch, kSource}}});
    const Value mask = g.input({"attention_mask", DType::kI64, {{kBatch, kSource}}});
    {
      const auto scope = g.scope("encoder");
      TransformerBlocks blocks(g, weights_, block_options(Side::kEncoder));
      const TokenPlaces places = places_of(g, ids, g.int_scalar(0));
      Value states = embed(g, Side::kEncoder, places);
      const Value bias = padding_bias(g, mask);
      for (std::int64_t i = 0; i < config_.encoder_layers; ++i) {
        const auto layer = g.scope(fmt::format("layers.{}", i));
        states = blocks.encoder_layer(states, bias, fmt::format("model.encoder.layers.{}", i));
      }
      if (family_.final_norm) states = blocks.layer_norm(states, "model.encoder.layer_norm");
      g.output(states, {"last_hidden_state", DType::kF32, {{kBatch, kSource, config_.d_model}}});
    }
    return model_of(std::move(g).build());
  }

  graph::Model decoder(DecoderKind kind) {
    const bool first = kind == DecoderKind::kFirst;
    GraphBuilder g(first ? "decoder" : "decoder_with_past");
    const Value mask = g.input({"encoder_attention_mask", DType::kI64, {{kBatch, kSource}}});
    const Value ids = g.input({"input_ids", DType::kI64, {{kBatch, kTarget}}});
    Value encoder_states;
    std::vector<DecoderLayerContext> contexts(static_cast<std::size_t>(config_.decoder_layers));
    if (first)
      encoder_states =
          g.input({"encoder_hidden_states", DType::kF32, {{kBatch, kSource, config_.d_model}}});
    else
      for (std::size_t i = 0; i < contexts.size(); ++i) {
        contexts[i].past_self = past_input(g, i, "decoder", kPast);
        contexts[i].past_cross = past_input(g, i, "encoder", kSource);
      }
    {
      const auto scope = g.scope("decoder");
      const Value past = first ? g.int_scalar(0) : extent(g, contexts.front().past_self->key, 2);
      const TokenPlaces places = places_of(g, ids, past);
      const Value embedded = embed(g, Side::kDecoder, places);
      const Value cross_bias = padding_bias(g, mask);
      const Value causal = causal_bias(g, places);
      for (DecoderLayerContext& context : contexts) {
        context.causal_bias = causal;
        context.cross_bias = cross_bias;
        context.encoder_states = encoder_states;
      }
      add_decoder_layers(g, embedded, ids, contexts);
    }
    return model_of(std::move(g).build());
  }

 private:
  BlockOptions block_options(Side side) const {
    const bool encoder = side == Side::kEncoder;
    return {options_.opset,
            config_.d_model,
            encoder ? config_.encoder_attention_heads : config_.decoder_attention_heads,
            encoder ? config_.encoder_ffn_dim : config_.decoder_ffn_dim,
            config_.activation_function,
            family_.norm_place};
  }

  void add_decoder_layers(GraphBuilder& g, Value states, const Value& ids,
                          const std::vector<DecoderLayerContext>& contexts) {
    TransformerBlocks blocks(g, weights_, block_options(Side::kDecoder));
    std::vector<DecoderLayerResult> results;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const auto layer = g.scope(fmt::format("layers.{}", i));
      results.push_back(
          blocks.decoder_layer(states, contexts[i], fmt::format("model.decoder.layers.{}", i)));
      states = results.back().states;
    }
    if (family_.final_norm) states = blocks.layer_norm(states, "model.decoder.layer_norm");
    g.output(logits(g, states, ids),
             {"logits", DType::kF32, {{kBatch, kTarget, config_.decoder_vocab_size}}});
    for (std::size_t i = 0; i < results.size(); ++i) {
      present_output(g, results[i].self, i, "decoder", kPastAndTarget);
      if (!contexts[i].past_cross) present_output(g, results[i].cross, i, "encoder", kSource);
    }
  }

  ValueInfo key_value_info(std::string name, const Dim& length) const {
    return {std::move(name),
            DType::kF32,
            {{kBatch, config_.decoder_attention_heads, length, config_.decoder_head_dim()}}};
  }

  KeyValue past_input(GraphBuilder& g, std::size_t layer, const char* side, const Dim& length) {
    const auto input = [&](const char* part) {
      return g.input(
          key_value_info(fmt::format("past_key_values.{}.{}.{}", layer, side, part), length));
    };
    Value key = input("key");
    return {std::move(key), input("value")};
  }

  void present_output(GraphBuilder& g, const KeyValue& values, std::size_t layer, const char* side,
                      const Dim& length) {
    g.output(values.key, key_value_info(fmt::format("present.{}.{}.key", layer, side), length));
    g.output(values.value, key_value_info(fmt::format("present.{}.{}.value", layer, side), length));
  }

  /// The size of one axis, a scalar.
  static Value extent(GraphBuilder& g, const Value& value, std::int64_t axis) {
    return g.node("Gather", {g.node("Shape", {value}), g.int_scalar(axis)},
                  {{"axis", std::int64_t{0}}});
  }

  static TokenPlaces places_of(GraphBuilder& g, const Value& ids, const Value& past) {
    const auto scope = g.scope("places");
    const Value end = g.node("Add", {past, extent(g, ids, 1)});
    return {ids, past, g.node("Range", {past, end, g.int_scalar(1)})};
  }

  Value embed(GraphBuilder& g, Side side, const TokenPlaces& places) {
    const auto scope = g.scope("embed");
    const graph::Initializer& table =
        side == Side::kEncoder ? family_.source_embedding : family_.target_embedding;
    Value rows = g.node("Gather", {g.weight(table), places.ids}, {{"axis", std::int64_t{0}}});
    if (config_.scale_embedding) {
      const double scale = std::sqrt(static_cast<double>(config_.d_model));
      rows = g.node("Mul", {rows, g.float_scalar(static_cast<float>(scale))});
    }
    return g.node("Add", {rows, family_.positions(g, side, places)});
  }

  /// Attention bias of a padding mask [batch, source], of which 1 stands for a token: 0 there and
  /// `kMasked` elsewhere, [batch, 1, 1, source].
  static Value padding_bias(GraphBuilder& g, const Value& mask) {
    const auto scope = g.scope("padding_bias");
    const Value is_token = g.node("Equal", {mask, g.int_scalar(1)});
    const Value bias = g.node("Where", {is_token, g.float_scalar(0), g.float_scalar(kMasked)});
    return g.node("Unsqueeze", {bias, g.int_vector({1, 2})});
  }

  /// Attention bias that hides later tokens: [length, past + length].
  static Value causal_bias(GraphBuilder& g, const TokenPlaces& places) {
    const auto scope = g.scope("causal_bias");
    const Value end = g.node("Add", {places.past, extent(g, places.ids, 1)});
    const Value keys = g.node("Range", {g.int_scalar(0), end, g.int_scalar(1)});
    const Value queries = g.node("Unsqueeze", {places.indices, g.int_vector({1})});
    const Value is_later = g.node("Greater", {keys, queries});
    return g.node("Where", {is_later, g.float_scalar(kMasked), g.float_scalar(0)});
  }

  /// The projection onto the vocabulary. Gemm reads the embedding as Gather does, [vocabulary,
  /// d_model], so that one copy serves both.
  Value logits(GraphBuilder& g, const Value& states, const Value& ids) {
    const auto scope = g.scope("logits");
    std::vector<Value> inputs = {g.node("Reshape", {states, g.int_vector({-1, config_.d_model})}),
                                 g.weight(family_.output_projection)};
    if (family_.output_bias) inputs.push_back(g.weight(*family_.output_bias));
    const Value rows = g.node("Gemm", std::move(inputs), {{"transB", std::int64_t{1}}});
    const Value shape =
        g.node("Concat", {g.node("Shape", {ids}), g.int_vector({config_.decoder_vocab_size})},
               {{"axis", std::int64_t{0}}});
    return g.node("Reshape", {rows, shape});
  }

  graph::Model model_of(graph::Graph graph) const {
    graph::Model model;
    model.ir_version = options_.opset < 15 ? 7 : 8;  // what came with these operator sets
    model.producer_name = "sampan";
    model.producer_version = version();
    model.opset_imports = {{"", options_.opset}};
    model.graph = std::move(graph);
    return model;
  }

  const checkpoint::ModelConfig& config_;
  const Seq2SeqFamily& family_;
  CheckpointWeights& weights_;
  const GraphOptions& options_;
};

void report_stack(const checkpoint::ModelConfig& config, const Seq2SeqFamily& family, Side side,
                  const GraphOptions& options) {
  if (!options.report) return;
  const bool encoder = side == Side::kEncoder;
  const char* const name = encoder ? "encoder" : "decoder";
  const auto& table = encoder ? family.source_embedding : family.target_embedding;
  options.report(fmt::format(
      "{} embedding: Gather of '{}' {}{}, plus positions", name, table.name,
      tensor::to_string(table.shape),
      config.scale_embedding ? fmt::format(" times sqrt({})", config.d_model) : std::string()));
  const std::int64_t heads =
      encoder ? config.encoder_attention_heads : config.decoder_attention_heads;
  for (std::int64_t i = 0; i < (encoder ? config.encoder_layers : config.decoder_layers); ++i)
    options.report(fmt::format(
        "{0} layer {1}: model.{0}.layers.{1}.* became self-attention{2} of {3} heads of {4} and "
        "feed-forward {5} -> {6} -> {5}, {7}",
        name, i, encoder ? "" : " and cross-attention", heads, config.d_model / heads,
        config.d_model, encoder ? config.encoder_ffn_dim : config.decoder_ffn_dim,
        family.norm_place == NormPlace::kPost ? "normalised after" : "normalised before"));
  if (!encoder)
    options.report(fmt::format(
        "logits: Gemm with '{}' {}{}", family.output_projection.name,
        tensor::to_string(family.output_projection.shape),
        family.output_bias ? fmt::format(" plus '{}'", family.output_bias->name) : std::string()));
}

}  // namespace

Seq2SeqGraphs build_seq2seq(const checkpoint::ModelConfig& config, const Seq2SeqFamily& family,
                            CheckpointWeights& weights, const GraphOptions& options) {
  Seq2SeqBuilder builder(config, family, weights, options);
  Seq2SeqGraphs graphs;
  graphs.encoder = builder.encoder();
  report_stack(config, family, Side::kEncoder, options);
  graphs.decoder = builder.decoder(DecoderKind::kFirst);
  report_stack(config, family, Side::kDecoder, options);
  graphs.decoder_with_past = builder.decoder(DecoderKind::kWithPast);
  graphs.decoder_merged = merge_decoders(graphs.decoder, graphs.decoder_with_past);
  if (options.report) {
    options.report("decoder_with_past: the decoder's layers on cached keys and values");
    options.report("decoder_merged: both decoders as branches of one If, on use_cache_branch");
  }
  return graphs;
}

}  // namespace sampan::architectures
