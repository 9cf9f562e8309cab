#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "reference/transformer.h"

namespace sampan::reference {

/// Called with each intermediate value of a forward pass, in order: its name, spelled after the
/// checkpoint's modules ("encoder.layers.0.self_attn.q_proj"), and its value, one row a position;
/// docs/verify.md lists the names. It may put another value in its place: what follows is computed
/// from that.
using Observer = std::function<void(std::string_view name, Matrix& value)>;

/// MarianMT (Junczys-Dowmunt et al. 2018) written plainly, in double precision, straight from a
/// checkpoint: the second answer that a package is held against. It shares no code with the graphs.
///
/// A post-norm transformer (Vaswani et al. 2017): embeddings times sqrt(d_model) plus sinusoidal
/// positions; every sublayer is LayerNorm(x + Sublayer(x)); the logits are the decoder's states
/// times the target embedding, plus a bias. One sentence has no padding here, so that no mask but
/// the causal one appears.
///
/// Immutable and thread-safe once made. It keeps its own copy of the weights.
class Marian {
 public:
  /// Throws `Error`: kInvalidData for a tensor that is missing or has another shape than
  /// config.json says; kUnsupported for a checkpoint of another family.
  explicit Marian(const checkpoint::Checkpoint& checkpoint);

  /// Keys and values of one decoder layer, [positions, d_model].
  struct LayerCache {
    Matrix self_key, self_value;    ///< grow by a row with each token
    Matrix cross_key, cross_value;  ///< of the source, fixed
  };
  /// A target under construction: what each layer remembers, and how many tokens it has.
  struct Target {
    std::vector<LayerCache> layers;
    Index length = 0;
  };

  /// States of the source tokens [source, d_model]. `ids` end with the end of sentence.
  /// Throws `Error` kInvalidArgument for an id outside the vocabulary or a source too long.
  Matrix encode(std::span<const std::int64_t> ids, const Observer& observe = {}) const;

  /// A target of no tokens for an encoded source.
  Target start(const Matrix& encoder_states, const Observer& observe = {}) const;

  /// One token that a target is fed with. Rows of one target follow each other in order.
  struct Row {
    Target* target = nullptr;
    std::int64_t token = 0;
  };
  /// Feeds the rows and returns the logits behind each, [rows, vocabulary]. A whole sentence is as
  /// many rows of one target; a beam is a row of each of several targets. Throws as `encode`.
  Matrix decode(std::span<const Row> rows, const Observer& observe = {}) const;

  /// Attention heads of the encoder or the decoder.
  Index heads(bool encoder) const {
    return (encoder ? encoder_ : decoder_).layers.front().self_attention.heads;
  }
  /// Entries of the target vocabulary, the width of the logits.
  Index vocab_size() const { return logits_.bias.size(); }

 private:
  struct Norms {
    LayerNorm self_attention, cross_attention, feed_forward;
  };
  struct Layer {
    Attention self_attention;
    Attention cross_attention;  // decoder only
    Linear expand, contract;    // the feed-forward network's fc1 and fc2
    Norms norms;
  };
  /// What one attention looks at.
  struct LayerMemory {
    const Matrix& key;
    const Matrix& value;
    Index heads = 1;
    bool causal = false;
  };
  struct Stack {
    std::shared_ptr<const Matrix>
        embedding;     // [vocabulary, d_model]; one for both stacks if shared
    Matrix positions;  // [max_position_embeddings, d_model]
    std::vector<Layer> layers;
  };

  /// Tells an observer the values of one module.
  class Watch;

  Matrix embed(const Stack& stack, std::span<const std::int64_t> ids,
               std::span<const Index> positions, const Watch& watch) const;
  Matrix self_attend(std::size_t layer, const Matrix& x, std::span<const Row> rows,
                     const Watch& watch) const;
  Matrix cross_attend(std::size_t layer, const Matrix& x, std::span<const Row> rows,
                      const Watch& watch) const;
  Matrix feed_forward(const Layer& layer, const Matrix& x, const Watch& watch) const;
  static Matrix project(const Linear& linear, const Matrix& x, const Watch& watch);
  /// softmax(Q K^T / sqrt(d_head)) V; Vaswani et al. 2017, equation 1.
  static Matrix attend(const Matrix& query, const LayerMemory& memory, const Watch& watch);
  static Matrix add_and_norm(const LayerNorm& norm, const Matrix& x, const Matrix& change,
                             const Watch& watch);

  checkpoint::Activation activation_;
  double embedding_scale_;
  Stack encoder_;
  Stack decoder_;
  Linear logits_;  // empty weight: the target embedding serves
};

}  // namespace sampan::reference
