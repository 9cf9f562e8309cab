#include "session/signature.h"

#include <fmt/format.h>

#include "base/fail.h"

namespace sampan::session {
namespace {

const ValueSignature* find(const std::vector<ValueSignature>& values, std::string_view name) {
  for (const ValueSignature& value : values)
    if (value.name == name) return &value;
  return nullptr;
}

std::string to_string(std::string_view dtype, const std::vector<std::int64_t>& dims) {
  std::string text = fmt::format("{} [", dtype);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += dims[axis] < 0 ? std::string("?") : std::to_string(dims[axis]);
  }
  return text + "]";
}

bool satisfies(const ValueSignature& value, const ValueDemand& demand) {
  if (value.dtype != demand.dtype || value.dims.size() != demand.dims.size()) return false;
  for (std::size_t axis = 0; axis < value.dims.size(); ++axis) {
    const std::int64_t wanted = demand.dims[axis];
    // A named axis is as good as the number: the runtime's tensors are checked where they are used.
    if (wanted == ValueDemand::kAny || value.dims[axis] < 0) continue;
    if (value.dims[axis] != wanted) return false;
  }
  return true;
}

const ValueSignature& require(const GraphSignature& graph, const ValueSignature* value,
                              std::string_view kind, std::string_view name,
                              const ValueDemand& demand) {
  const std::string expected = to_string(demand.dtype, demand.dims);
  if (value == nullptr)
    base::fail(ErrorCode::kInvalidData,
               "{}: {} '{}' is missing, expected {}; export the package again with sampan or "
               "optimum (text2text-generation-with-past)",
               graph.file, kind, name, expected);
  if (!satisfies(*value, demand))
    base::fail(ErrorCode::kInvalidData,
               "{}: {} '{}' is {}, expected {}; export the package again, in float32 and with "
               "dynamic axes",
               graph.file, kind, name, to_string(*value), expected);
  return *value;
}

}  // namespace

const ValueSignature* GraphSignature::input(std::string_view name) const {
  return find(inputs, name);
}

const ValueSignature* GraphSignature::output(std::string_view name) const {
  return find(outputs, name);
}

std::string to_string(const ValueSignature& value) { return to_string(value.dtype, value.dims); }

const ValueSignature& require_input(const GraphSignature& graph, std::string_view name,
                                    const ValueDemand& demand) {
  return require(graph, graph.input(name), "input", name, demand);
}

const ValueSignature& require_output(const GraphSignature& graph, std::string_view name,
                                     const ValueDemand& demand) {
  return require(graph, graph.output(name), "output", name, demand);
}

}  // namespace sampan::session
