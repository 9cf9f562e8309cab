#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph_builder.h"
#include "optimizer/portable_weights.h"
#include "quantize/block_weights.h"

namespace sampan::optimizer {

inline constexpr const char* kMicrosoft = "com.microsoft";

/// Linear layers of the checkpoint that read the same input, computed as one: their outputs stand
/// side by side.
struct Linear {
  std::string name;                  ///< of the weights in the graph
  std::vector<std::string> modules;  ///< "model.decoder.layers.0.self_attn.q_proj", ...
};

/// How the matrices of a graph are stored and multiplied. The same object serves all graphs of a
/// package, so that what they share is made once.
class Projection {
 public:
  virtual ~Projection() = default;

  /// x [..., in] -> [..., sum of outs], bias added.
  virtual graph::Value linear(graph::GraphBuilder& g, const graph::Value& x,
                              const Linear& linear) = 0;
  /// ids [...] -> rows of `table` times `scale` [..., d_model].
  virtual graph::Value embed(graph::GraphBuilder& g, const graph::Value& ids,
                             const graph::Initializer& table, float scale) = 0;
  /// states [tokens, d_model] -> logits [tokens, vocabulary], bias added.
  virtual graph::Value logits(graph::GraphBuilder& g, const graph::Value& states) = 0;
};

/// fp32 everywhere.
std::unique_ptr<Projection> make_float_projection(const PortableWeights& weights);

/// 8 bits, multiplied as integers: fast for many rows. Objects borrow `weights`.
std::unique_ptr<Projection> make_int8_rows_projection(const PortableWeights& weights);

/// 8 or 4 bits in blocks, multiplied by MatMulNBits: fast for few rows.
std::unique_ptr<Projection> make_block_projection(const PortableWeights& weights,
                                                  const quantize::BlockScheme& scheme);

/// The matrix [in, sum of outs] of a linear, row-major.
std::vector<float> joined_weight(const PortableWeights& weights, const Linear& linear);
/// Its bias [sum of outs], as an initializer.
graph::Initializer joined_bias(const PortableWeights& weights, const Linear& linear);
/// The bias of the logits as [vocabulary]; nothing where there is none, or where it is all zero.
std::optional<graph::Initializer> logits_bias(const PortableWeights& weights);
/// The elements of an F32 initializer.
std::vector<float> floats_of(const graph::Initializer& initializer);

}  // namespace sampan::optimizer
