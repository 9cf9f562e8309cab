#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "graph/model.h"

namespace sampan::architectures {

struct GraphOptions {
  /// Version of the ai.onnx operator set, 14 to 18.
  std::int64_t opset = 17;
  /// Called with one line for each thing built ("encoder layer 0: self-attention from ..."); may be
  /// empty.
  std::function<void(std::string_view)> report;
};

/// The portable graphs of a model, without their merged form. Initializers refer to the checkpoint,
/// which must outlive them. A weight that several graphs use has the same initializer name, type
/// and shape in all of them, and equal bytes: the package writer stores it once.
struct Seq2SeqGraphs {
  graph::Model encoder;
  graph::Model decoder;
  graph::Model decoder_with_past;
  graph::Model decoder_merged;
};

/// One model family.
struct Architecture {
  std::string_view model_type;  ///< config.json's
  Seq2SeqGraphs (*build)(const checkpoint::Checkpoint&, const GraphOptions&);
};

/// All families, sorted by name: the registry.
std::vector<Architecture> architectures();

/// Builds the graphs of a checkpoint. Throws `Error`: kUnsupported (family, opset), kInvalidData (a
/// tensor that is missing or has another shape or type than config.json says; each is named).
Seq2SeqGraphs build_graphs(const checkpoint::Checkpoint& checkpoint, const GraphOptions& options);

}  // namespace sampan::architectures
