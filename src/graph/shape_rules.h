#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/extent.h"
#include "graph/model.h"

/// What operators make of the types and shapes of their inputs, one function an operator.
namespace sampan::graph {

/// Vectors that are computed with are shapes: short.
inline constexpr std::int64_t kLongestContent = 64;

/// What is known of a value before anything runs.
struct InferredValue {
  std::optional<tensor::DType> dtype;
  std::optional<std::vector<Extent>> shape;
  /// The elements of a scalar or a short vector of whole numbers, as far as they are known: shapes
  /// are computed with them.
  std::optional<std::vector<Extent>> content;
};

/// Thrown by rules: these inputs or attributes cannot work. One phrase.
struct Contradiction {
  std::string what;
};

/// A node as rules see it.
class NodeView {
 public:
  NodeView(const Node& node, std::vector<InferredValue> inputs)
      : node_(node), inputs_(std::move(inputs)) {}

  const Node& node() const { return node_; }
  std::size_t count() const { return inputs_.size(); }
  bool has(std::size_t input) const {
    return input < node_.inputs.size() && !node_.inputs[input].empty();
  }
  /// Nothing is known of an input that is left out.
  const InferredValue& in(std::size_t input) const;

  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute) const;
  const AttributeValue* attribute(std::string_view name) const;

 private:
  const Node& node_;
  std::vector<InferredValue> inputs_;
};

using Inferred = std::vector<InferredValue>;
/// One value an output; missing ones are unknown. Throws `Contradiction`.
using ShapeRule = Inferred (*)(const NodeView&);

/// An operator in the operator sets in which it has this form.
struct OperatorForm {
  std::string_view domain;  ///< empty: ai.onnx
  std::string_view type;
  std::int64_t first_opset = 1;
  std::int64_t last_opset = 0;  ///< of those that are known
  std::size_t fewest_inputs = 0;
  std::size_t most_inputs = 0;
  std::size_t most_outputs = 1;
  std::string_view attributes;  ///< separated by spaces; "*": not known which
  ShapeRule rule = nullptr;     ///< null: outputs are unknown
};

/// Operator sets of ai.onnx whose operators are known.
inline constexpr std::int64_t kFirstKnownOpset = 14;
inline constexpr std::int64_t kLastKnownOpset = 18;

/// All known forms; an operator may have several.
std::span<const OperatorForm> operator_forms();

/// What is known of a constant.
InferredValue value_of(const Initializer& initializer);

}  // namespace sampan::graph
