#include "optimizer/portable_weights.h"

#include <utility>

#include "base/fail.h"
#include "graph/external_data.h"
#include "graph/onnx_reader.h"

namespace sampan::optimizer {
namespace {

using graph::Initializer;
using package::GraphRole;

graph::Model open_graph(const package::Package& package, GraphRole role) {
  const auto found = package.graphs.find(role);
  if (found == package.graphs.end())
    base::fail(ErrorCode::kUnsupported,
               "{}: has no encoder_model.onnx or no decoder_model.onnx; export the package again",
               package.folder.string());
  graph::Model model = graph::read_model_file(found->second);
  graph::open_external_data(model, found->second);
  return model;
}

}  // namespace

PortableWeights::PortableWeights(const package::Package& package)
    : folder_(package.folder.string()) {
  const graph::Model encoder = open_graph(package, GraphRole::kEncoder);
  const graph::Model decoder = open_graph(package, GraphRole::kDecoder);
  for (const graph::Model* model : {&encoder, &decoder})
    for (const Initializer& weight : model->graph.initializers)
      if (weight.dtype == tensor::DType::kF32) weights_.emplace(weight.name, weight);
  source_ = find_embedding(encoder.graph);
  target_ = find_embedding(decoder.graph);
  find_output(decoder.graph);
}

const Initializer& PortableWeights::linear_weight(const std::string& module) const {
  return find(module + ".weight.transposed");
}

const Initializer& PortableWeights::bias(const std::string& module) const {
  return find(module + ".bias");
}

const Initializer& PortableWeights::find(const std::string& name) const {
  const auto found = weights_.find(name);
  if (found == weights_.end())
    base::fail(ErrorCode::kUnsupported,
               "{}: the graphs have no fp32 weight '{}'; optimise a package that 'sampan export' "
               "wrote and nothing has changed",
               folder_, name);
  return found->second;
}

// Both tables are read by a Gather of the graph: the tokens' one by input_ids.
PortableWeights::Embedding PortableWeights::find_embedding(const graph::Graph& graph) const {
  Embedding embedding;
  for (const graph::Node& node : graph.nodes) {
    if (node.op_type != "Gather" || node.inputs.size() != 2) continue;
    const auto table = weights_.find(node.inputs[0]);
    if (table == weights_.end() || table->second.shape.size() != 2) continue;
    (node.inputs[1] == "input_ids" ? embedding.table : embedding.positions) = table->second;
  }
  if (embedding.table.shape.empty() || embedding.positions.shape.empty())
    base::fail(ErrorCode::kUnsupported,
               "{}: graph '{}' does not look up tokens and positions in fp32 tables; optimise a "
               "package that 'sampan export' wrote",
               folder_, graph.name);
  return embedding;
}

void PortableWeights::find_output(const graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes) {
    if (node.op_type != "Gemm" || node.inputs.size() < 2) continue;
    output_projection_ = find(node.inputs[1]);
    if (node.inputs.size() > 2) output_bias_ = find(node.inputs[2]);
    return;
  }
  base::fail(ErrorCode::kUnsupported,
             "{}: graph '{}' has no Gemm for the logits; optimise a package that 'sampan export' "
             "wrote",
             folder_, graph.name);
}

}  // namespace sampan::optimizer
