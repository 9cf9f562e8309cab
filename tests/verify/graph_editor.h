#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/model.h"

namespace sampan::verify {

/// Changes one graph of a package, or one branch of a merged decoder, as a wrong exporter would
/// have made it. Nodes and values are named as in decoder_model.onnx, without a branch's prefix.
/// Throws std::runtime_error for a node that is not there: a fault that cannot be made proves
/// nothing.
class GraphEditor {
 public:
  /// `branch` is "", "no_past" or "with_past".
  GraphEditor(const std::filesystem::path& file, const std::string& branch);

  /// The whole model, changed, into a file.
  void write(const std::filesystem::path& file);

  graph::Node& node(const std::string& name);
  /// Whoever reads a node's output reads its data input (number `input`) instead.
  void bypass(const std::string& name, std::size_t input = 0);
  /// Whoever reads `value` reads that of the last of the new nodes instead; in these, "value"
  /// stands for the old one.
  void insert_behind(const std::string& value, std::vector<graph::Node> nodes);
  /// A constant of the graph; the name is unique.
  std::string constant(float value);
  std::string constant(std::vector<std::int64_t> values, bool scalar);
  /// A matrix of floats [rows, columns].
  std::vector<float> weight(const std::string& name) const;
  /// Gives the reader of a weight another matrix in its place.
  void replace_input(const std::string& node, std::size_t input, std::vector<float> values,
                     tensor::Shape shape);
  std::string value_name(const std::string& name) const { return prefix_ + name; }

 private:
  graph::Graph& target();

  graph::Model model_;
  graph::Model opened_;  // with the bytes of weights at hand
  std::string branch_, prefix_;
  std::shared_ptr<graph::Graph> branch_graph_;
  int constants_ = 0;
};

}  // namespace sampan::verify
