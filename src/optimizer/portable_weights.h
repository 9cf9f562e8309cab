#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/model_config.h"
#include "graph/model.h"
#include "package/package.h"

namespace sampan::optimizer {

/// The fp32 weights of a package's portable graphs, by the names of the checkpoint's modules. They
/// refer to the package's mapped files. Throws `Error` kInvalidData where the graphs are not those
/// that this program exports.
class PortableWeights {
 public:
  /// `package` has portable graphs.
  explicit PortableWeights(const package::Package& package);

  /// MODULE.weight of a linear layer as [in, out], and MODULE.bias.
  const graph::Initializer& linear_weight(const std::string& module) const;
  const graph::Initializer& bias(const std::string& module) const;
  /// A tensor under its own name: "MODULE.weight" of a norm.
  const graph::Initializer& find(const std::string& name) const;

  /// Embeddings [vocabulary, d_model] and the rows added to them [position, d_model].
  struct Embedding {
    graph::Initializer table;
    graph::Initializer positions;
  };
  const Embedding& source() const { return source_; }
  const Embedding& target() const { return target_; }
  /// [vocabulary, d_model], and what is added to the logits: [vocabulary] in any shape.
  const graph::Initializer& output_projection() const { return output_projection_; }
  const std::optional<graph::Initializer>& output_bias() const { return output_bias_; }

 private:
  Embedding find_embedding(const graph::Graph& graph) const;
  void find_output(const graph::Graph& graph);

  std::string folder_;
  std::map<std::string, graph::Initializer, std::less<>> weights_;
  Embedding source_;
  Embedding target_;
  graph::Initializer output_projection_;
  std::optional<graph::Initializer> output_bias_;
};

}  // namespace sampan::optimizer
