#include "quantize/half_precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fail.h"
#include "graph/external_data.h"
#include "quantize/float_weight.h"
#include "quantize/graph_scope.h"

namespace sampan::quantize {
namespace {

using graph::Graph;
using graph::Initializer;
using graph::Node;
using tensor::DType;

/// ONNX's number of binary16, which Cast takes.
constexpr std::int64_t kCastToHalf = 10;

/// Operators that are safe in binary16: linear ones, those that only move values, and functions
/// with bounded results.
constexpr auto kHalfOperators = std::to_array<std::string_view>(
    {"Add",   "Concat",  "Div", "Erf",  "Expand", "Gather",    "Gelu",      "Gemm",    "MatMul",
     "Max",   "Min",     "Mul", "Neg",  "Pad",    "Relu",      "Reshape",   "Sigmoid", "Slice",
     "Split", "Squeeze", "Sub", "Tanh", "Tile",   "Transpose", "Unsqueeze", "Where"});

/// Operators whose result is never fp32, whatever they read.
constexpr auto kNeverFloat = std::to_array<std::string_view>(
    {"And", "ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less",
     "LessOrEqual", "NonZero", "Not", "Or", "Shape"});

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_lowest_or_highest(float value) {
  return std::fabs(value) == std::numeric_limits<float>::max();
}

/// The forms in which a value exists.
struct Forms {
  bool is_float = false;  ///< otherwise neither of the two
  std::string full;       ///< name as fp32; empty: not there
  std::string half;       ///< name as binary16; empty: not there
};

/// A graph under way.
struct Scope {
  const Graph* graph = nullptr;
  Scope* outer = nullptr;
  std::map<std::string, Forms, std::less<>> values;
  std::map<std::string, const Initializer*, std::less<>> constants;
  std::vector<Node> nodes;
  std::vector<Initializer> halves;
  std::set<std::string, std::less<>> full_constants;  ///< read as fp32

  /// Names that a branch makes must not be those of the graph around it.
  std::string own(const std::string& name) const {
    return outer == nullptr ? name : graph->name + "/" + name;
  }
};

Scope* scope_of(const std::string& value, Scope& scope) {
  for (Scope* at = &scope; at != nullptr; at = at->outer)
    if (at->values.contains(value)) return at;
  return nullptr;
}

class HalfRewriter {
 public:
  explicit HalfRewriter(const KeepFloat& keep_float) : keep_float_(keep_float) {}

  Graph rewrite(const Graph& graph, Scope* outer) {
    Scope scope;
    scope.graph = &graph;
    scope.outer = outer;
    for (const graph::ValueInfo& input : graph.inputs) declare(input.name, input.dtype, scope);
    for (const Initializer& constant : graph.initializers) {
      declare(constant.name, constant.dtype, scope);
      scope.constants.emplace(constant.name, &constant);
    }
    for (const graph::ValueInfo& output : graph.outputs)
      if (output.dtype == DType::kF32) full_outputs_.insert(output.name);
    for (const Node& node : graph.nodes) convert(node, scope);
    for (const graph::ValueInfo& output : graph.outputs)
      if (output.dtype == DType::kF32) full_form(output.name, scope);
    Graph result = graph;
    result.nodes = std::move(scope.nodes);
    result.value_infos.clear();  // their types are others now
    std::erase_if(result.initializers, [&](const Initializer& constant) {
      return constant.dtype == DType::kF32 && !scope.full_constants.contains(constant.name);
    });
    for (Initializer& half : scope.halves) result.initializers.push_back(std::move(half));
    return result;
  }

 private:
  static void declare(const std::string& name, DType dtype, Scope& scope) {
    Forms forms;
    forms.is_float = dtype == DType::kF32;
    if (forms.is_float) forms.full = name;
    scope.values[name] = forms;
  }

  static bool is_float(const std::string& value, Scope& scope) {
    const Scope* const place = scope_of(value, scope);
    return place != nullptr && place->values.find(value)->second.is_float;
  }

  /// Whether the outputs of a node are fp32 in the original graph.
  static bool makes_floats(const Node& node, Scope& scope) {
    if (contains(kNeverFloat, node.op_type)) return false;
    if (node.op_type == "Cast") return integer_attribute(node, "to", 0) == kCastToFloat;
    for (const auto& [name, value] : node.attributes)
      if (const auto* constant = std::get_if<Initializer>(&value))
        return constant->dtype == DType::kF32;
    const std::size_t first = node.op_type == "Where" ? 1 : 0;
    return first < node.inputs.size() && is_float(node.inputs[first], scope);
  }

  void convert(const Node& node, Scope& scope) {
    std::vector<bool> floats(node.outputs.size(), makes_floats(node, scope));
    Node result = node;
    for (auto& [name, value] : result.attributes)
      if (auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value)) {
        for (std::size_t i = 0; i < floats.size() && i < (*branch)->outputs.size(); ++i)
          floats[i] = (*branch)->outputs[i].dtype == DType::kF32;
        *branch = std::make_shared<const Graph>(rewrite(**branch, &scope));
      }
    const bool any_float = std::ranges::find(floats, true) != floats.end();
    const bool to_half = any_float && fits_half(node, scope);
    // Shape reads no values: it takes either form.
    const bool either = node.op_type == "Shape";
    for (std::string& input : result.inputs)
      if (!input.empty() && is_float(input, scope))
        input = to_half ? half_form(input, scope)
                        : (either ? any_form(input, scope) : full_form(input, scope));
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      if (result.outputs[i].empty()) continue;
      Forms forms;
      forms.is_float = floats[i];
      if (to_half && full_outputs_.contains(result.outputs[i])) result.outputs[i] += ".fp16";
      if (floats[i]) (to_half ? forms.half : forms.full) = result.outputs[i];
      scope.values[node.outputs[i]] = forms;
    }
    scope.nodes.push_back(std::move(result));
  }

  bool fits_half(const Node& node, Scope& scope) {
    if (!node.domain.empty() || !contains(kHalfOperators, node.op_type)) return false;
    return std::ranges::all_of(node.inputs, [&](const std::string& input) {
      const Initializer* const constant = constant_of(input, scope);
      if (constant == nullptr || constant->dtype != DType::kF32) return true;
      return !(keep_float_ && keep_float_(constant->name)) && fits_half(*constant);
    });
  }

  /// Whether binary16 holds every value, or its own limits stand for fp32's.
  bool fits_half(const Initializer& constant) {
    const auto [place, is_new] = fits_.emplace(constant.name, true);
    if (!is_new) return place->second;
    const std::vector<float> values = floats_of(constant);
    place->second = std::ranges::all_of(values, [&](float value) {
      if (std::isnan(value) || (std::isinf(value) && !constant.shape.empty()))
        base::fail(ErrorCode::kInvalidData,
                   "initializer '{}': a weight is {}; the checkpoint is damaged or overflowed",
                   constant.name, value);
      return std::fabs(value) <= kLargestHalf || is_lowest_or_highest(value);
    });
    return place->second;
  }

  static const Initializer* constant_of(const std::string& value, Scope& scope) {
    const Scope* const place = scope_of(value, scope);
    if (place == nullptr) return nullptr;
    const auto found = place->constants.find(value);
    return found == place->constants.end() ? nullptr : found->second;
  }

  std::string full_form(const std::string& value, Scope& scope) {
    Scope* const place = scope_of(value, scope);
    const Forms forms = place->values.at(value);
    if (!forms.full.empty()) {
      if (place->constants.contains(value)) place->full_constants.insert(value);
      return forms.full;
    }
    const bool is_output = place == &scope && full_outputs_.contains(value);
    const std::string name = is_output ? value : scope.own(value + ".fp32");
    return cast(forms, name, kCastToFloat, value, scope).full;
  }

  std::string half_form(const std::string& value, Scope& scope) {
    Scope* const place = scope_of(value, scope);
    const Forms forms = place->values.at(value);
    if (!forms.half.empty()) return forms.half;
    if (const auto constant = place->constants.find(value); constant != place->constants.end()) {
      place->values.at(value).half = value + ".fp16";
      place->halves.push_back(as_half(*constant->second));
      return value + ".fp16";
    }
    return cast(forms, scope.own(value + ".fp16"), kCastToHalf, value, scope).half;
  }

  std::string any_form(const std::string& value, Scope& scope) {
    const Forms& forms = scope_of(value, scope)->values.at(value);
    return forms.half.empty() ? full_form(value, scope) : forms.half;
  }

  /// Adds the form of a value that is not there to the scope at hand.
  static Forms cast(Forms forms, const std::string& name, std::int64_t type,
                    const std::string& value, Scope& scope) {
    const std::string from = type == kCastToHalf ? forms.full : forms.half;
    scope.nodes.push_back({"Cast", "", name, {from}, {name}, {{"to", type}}});
    (type == kCastToHalf ? forms.half : forms.full) = name;
    scope.values[value] = forms;
    return forms;
  }

  /// Converted when it is written, so that one weight is in memory at a time.
  static Initializer as_half(const Initializer& constant) {
    Initializer half = constant;
    half.name += ".fp16";
    half.dtype = DType::kF16;
    half.data = graph::DataSource([constant](std::span<std::byte> out) {
      const std::vector<float> values = floats_of(constant);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float clamped =
            std::isinf(values[i]) ? values[i] : std::clamp(values[i], -kLargestHalf, kLargestHalf);
        const std::uint16_t bits = tensor::float_to_half(clamped);
        std::memcpy(out.data() + i * sizeof bits, &bits, sizeof bits);
      }
    });
    return half;
  }

  const KeepFloat& keep_float_;
  std::set<std::string, std::less<>> full_outputs_;
  std::map<std::string, bool, std::less<>> fits_;
};

}  // namespace

HalfPrecisionScheme::HalfPrecisionScheme(KeepFloat keep_float)
    : keep_float_(std::move(keep_float)) {}

SchemeRecord HalfPrecisionScheme::record() const {
  return {"fp16", "fp16", kIntegerOperatorsRuntime};
}

graph::Model HalfPrecisionScheme::rewrite(const graph::Model& model, std::string_view) {
  graph::Model result = model;
  result.graph = HalfRewriter(keep_float_).rewrite(model.graph, nullptr);
  return result;
}

}  // namespace sampan::quantize
