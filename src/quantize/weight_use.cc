#include "quantize/weight_use.h"

namespace sampan::quantize {

using graph::Node;

std::optional<WeightUse> weight_use(const Node& node, GraphScope& scope) {
  if (node.inputs.size() < 2 || node.outputs.size() != 1) return std::nullopt;
  WeightUse use{WeightUse::Kind::kProduct, {}, Orientation::kColumns, node.inputs[0], ""};
  std::string weight = node.inputs[1];
  if (is_standard(node, "Gemm")) {
    if (integer_attribute(node, "transA", 0) != 0 || real_attribute(node, "alpha", 1.0f) != 1.0f ||
        real_attribute(node, "beta", 1.0f) != 1.0f)
      return std::nullopt;
    if (integer_attribute(node, "transB", 0) != 0) use.orientation = Orientation::kRows;
    if (node.inputs.size() > 2) use.bias = node.inputs[2];
  } else if (is_standard(node, "Gather")) {
    if (integer_attribute(node, "axis", 0) != 0 || !is_graph_input(node.inputs[1], scope))
      return std::nullopt;
    use.kind = WeightUse::Kind::kRows;
    use.orientation = Orientation::kRows;
    use.input = node.inputs[1];
    weight = node.inputs[0];
  } else if (!is_standard(node, "MatMul")) {
    return std::nullopt;
  }
  use.weight = find_initializer(weight, scope);
  if (use.weight.initializer == nullptr) return std::nullopt;
  return use;
}

}  // namespace sampan::quantize
