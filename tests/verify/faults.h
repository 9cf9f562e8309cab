#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verify/graph_editor.h"

namespace sampan::verify {

/// Something that exporters have done wrong, in one graph.
struct Fault {
  std::string name;
  std::function<void(GraphEditor&)> make;
  std::string place;  ///< that must be found first: "layers.0.self_attn.q_proj.product"
  std::string part;   ///< how the part that is named must begin
};

/// Faults that a layer can have, for each of its attentions, projections and norms. `attentions`
/// are "self_attn" and, in a decoder, "encoder_attn". `keys` says whether the second computes its
/// keys and values itself.
struct LayerKind {
  std::string stack;  ///< "encoder" or "decoder"
  bool cross_attention = false;
  bool computes_cross_keys = false;
  int layer = 0;
  int width = 256;
};
std::vector<Fault> faults_of_layer(const LayerKind& kind);

/// Faults around the layers.
std::vector<Fault> faults_of_embedding(const std::string& stack, int width);
std::vector<Fault> faults_of_decoder(int width, int vocab_size);

}  // namespace sampan::verify
