#pragma once

#include <string>
#include <string_view>

#include "graph/model.h"

namespace sampan::quantize {

/// What a package's manifest says of its weights.
struct SchemeRecord {
  std::string name;                   ///< "int8-block128"
  std::string precision;              ///< "int8"
  std::string least_runtime_version;  ///< of ONNX Runtime, for the operators in use: "1.23.0"
  std::string note{};                 ///< what was measured to choose it; may be empty
};

/// A way to make the graphs of one package smaller: pure rewriting, what was measured on text goes
/// in at construction. One object serves all graphs of a package, so that a weight is rounded
/// once. Not thread-safe.
class Scheme {
 public:
  virtual ~Scheme() = default;

  virtual SchemeRecord record() const = 0;

  /// The graph with the same inputs and outputs, in the same order. `model` has its external data
  /// open. `graph_file` is its path in the package ("encoder_model.onnx"), for schemes with
  /// statistics of each graph. Throws `Error` kInvalidData for weights that are not finite, or that
  /// differ between the graphs.
  virtual graph::Model rewrite(const graph::Model& model, std::string_view graph_file) = 0;
};

}  // namespace sampan::quantize
