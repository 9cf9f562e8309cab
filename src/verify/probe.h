#pragma once

#include <string>
#include <vector>

#include "graph/model.h"

namespace sampan::verify {

/// An inner value of a graph, and the reference's name for it.
struct Probe {
  std::string name;   ///< "encoder.layers.0.self_attn.q_proj.product"
  std::string value;  ///< in the graph
  std::string node;   ///< that makes it
  std::string op_type;
};

/// The values of a graph that the reference knows too: embeddings, products and biases of each
/// projection, attention scores, probabilities and sums, residual sums, norms, caches, logits. They
/// are found by the modules in the names of nodes ("/encoder/layers.0/self_attn/q_proj/MatMul"),
/// which this library and torch's exporter write alike; what is named otherwise, or fused into one
/// operator, is not found. `stack` is "encoder" or "decoder".
std::vector<Probe> find_probes(const graph::Graph& graph, const std::string& stack);

}  // namespace sampan::verify
