#include "graph/text_dump.h"

#include <fmt/ranges.h>

#include <cstring>
#include <iterator>

#include "graph/external_data.h"

namespace sampan::graph {
namespace {

constexpr std::int64_t kMostShown = 16;

std::string text_of(const std::optional<std::vector<Dim>>& shape) {
  if (!shape) return "?";
  std::vector<std::string> dims;
  for (const Dim& dim : *shape) {
    if (const auto* extent = std::get_if<std::int64_t>(&dim))
      dims.push_back(fmt::format("{}", *extent));
    else
      dims.push_back(std::get<std::string>(dim).empty() ? "?" : std::get<std::string>(dim));
  }
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::string text_of(const ValueInfo& value) {
  return fmt::format("{}: {} {}", value.name, tensor::name_of(value.dtype), text_of(value.shape));
}

template <typename Element>
std::string elements(const Initializer& tensor) {
  std::vector<std::byte> bytes(byte_size(tensor));
  copy_bytes(tensor, bytes);
  std::vector<Element> values(bytes.size() / sizeof(Element));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return fmt::format(" = {{{}}}", fmt::join(values, ", "));
}

std::string shown_elements(const Initializer& tensor) {
  using tensor::DType;
  const auto count = tensor::element_count(tensor.shape);
  if (!count || *count > kMostShown) return "";
  switch (tensor.dtype) {
    case DType::kI64:
      return elements<std::int64_t>(tensor);
    case DType::kI32:
      return elements<std::int32_t>(tensor);
    case DType::kF32:
      return tensor.shape.empty() ? elements<float>(tensor) : "";
    default:
      return "";
  }
}

std::string text_of(const Initializer& tensor) {
  std::string text = fmt::format("{}: {} {}", tensor.name, tensor::name_of(tensor.dtype),
                                 tensor::to_string(tensor.shape));
  if (const auto* external = std::get_if<ExternalData>(&tensor.data))
    return text + fmt::format(" in {} at {}", external->location, external->offset);
  return text + shown_elements(tensor);
}

class Dump {
 public:
  explicit Dump(std::string& out) : out_(out) {}

  void add(const Graph& graph, std::string_view title, int depth) {
    line(depth, "{} {}", title, graph.name);
    for (const ValueInfo& input : graph.inputs) line(depth + 1, "input {}", text_of(input));
    for (const Initializer& initializer : graph.initializers)
      line(depth + 1, "weight {}", text_of(initializer));
    for (const ValueInfo& value : graph.value_infos) line(depth + 1, "value {}", text_of(value));
    for (const Node& node : graph.nodes) add(node, depth + 1);
    for (const ValueInfo& output : graph.outputs) line(depth + 1, "output {}", text_of(output));
  }

 private:
  void add(const Node& node, int depth) {
    std::string text =
        fmt::format("{} = {}{}{}({})", fmt::join(node.outputs, ", "), node.domain,
                    node.domain.empty() ? "" : ".", node.op_type, fmt::join(node.inputs, ", "));
    for (const auto& [name, value] : node.attributes) text += text_of_attribute(name, value);
    if (node.outputs.empty() || node.outputs.front() != node.name) text += "  # " + node.name;
    line(depth, "{}", text);
    for (const auto& [name, value] : node.attributes)
      if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value);
          branch != nullptr && *branch != nullptr)
        add(**branch, name, depth + 1);
  }

  static std::string text_of_attribute(const std::string& name, const AttributeValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return fmt::format(" {}={}", name, *integer);
    if (const auto* real = std::get_if<float>(&value)) return fmt::format(" {}={}f", name, *real);
    if (const auto* text = std::get_if<std::string>(&value))
      return fmt::format(" {}='{}'", name, *text);
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
      return fmt::format(" {}=[{}]", name, fmt::join(*integers, ", "));
    if (const auto* reals = std::get_if<std::vector<float>>(&value))
      return fmt::format(" {}=[{}]f", name, fmt::join(*reals, ", "));
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
      return fmt::format(" {}=['{}']", name, fmt::join(*texts, "', '"));
    if (const auto* tensor = std::get_if<Initializer>(&value))
      return fmt::format(" {}=<{}>", name, text_of(*tensor));
    return "";  // a graph follows on lines of its own
  }

  template <typename... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<std::size_t>(2 * depth), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string& out_;
};

}  // namespace

std::string to_text(const Graph& graph) {
  std::string out;
  Dump(out).add(graph, "graph", 0);
  return out;
}

std::string to_text(const Model& model) {
  std::string out = fmt::format("model of IR version {} by '{}' '{}'", model.ir_version,
                                model.producer_name, model.producer_version);
  if (!model.domain.empty() || model.model_version != 0)
    out += fmt::format(", '{}' version {}", model.domain, model.model_version);
  out += '\n';
  for (const OpsetImport& import : model.opset_imports)
    out += fmt::format("opset {} {}\n", import.domain.empty() ? "ai.onnx" : import.domain,
                       import.version);
  for (const auto& [key, value] : model.metadata)
    out += fmt::format("metadata {}={}\n", key, value);
  return out + to_text(model.graph);
}

}  // namespace sampan::graph
