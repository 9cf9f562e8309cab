#include "verify/model_side.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/mapped_file.h"
#include "graph/extra_outputs.h"
#include "graph/onnx_reader.h"
#include "sampan/error.h"
#include "verify/model_inputs.h"

namespace sampan::verify {

using session::GraphRunner;
using session::NamedTensor;

RunnableModel::RunnableModel(std::filesystem::path file, const session::SessionOptions& options)
    : file_(std::move(file)), options_(options), runner_(file_, options) {
  try {
    model_ = graph::read_model_file(file_);
  } catch (const Error& error) {
    unread_ = error.what();  // the runtime can read it: outputs can be compared all the same
  }
}

std::vector<std::string> RunnableModel::outputs() const {
  std::vector<std::string> names;
  for (const auto& output : signature().outputs) names.push_back(output.name);
  return names;
}

bool RunnableModel::has(std::string_view name) const {
  if (signature().output(name) != nullptr) return true;
  if (!model_) return false;
  return std::ranges::any_of(model_->graph.nodes, [&](const graph::Node& node) {
    return std::ranges::find(node.outputs, name) != node.outputs.end();
  });
}

std::vector<NamedTensor> RunnableModel::inputs_of(const GraphRunner& runner,
                                                  std::span<const NamedTensor> all) const {
  std::vector<NamedTensor> inputs;
  for (const NamedTensor& input : all)
    if (runner.signature().input(input.name) != nullptr) inputs.push_back(input);
  return inputs;
}

std::vector<std::optional<NamedTensor>> RunnableModel::values(
    std::span<const NamedTensor> inputs, std::span<const std::string> names) const {
  std::vector<std::string> inner;
  for (const std::string& name : names)
    if (signature().output(name) == nullptr) inner.push_back(name);
  std::optional<GraphRunner> extended;
  if (!inner.empty()) {
    const base::MappedFile mapped(file_);
    const std::string suffix = graph::extra_outputs(inner);
    std::vector<std::byte> bytes(mapped.bytes().begin(), mapped.bytes().end());
    const auto more = std::as_bytes(std::span(suffix));
    bytes.insert(bytes.end(), more.begin(), more.end());
    session::SessionOptions options = options_;
    options.external_data_folder = std::filesystem::absolute(file_).parent_path();
    extended.emplace(bytes, file_.string(), options);
  }
  const GraphRunner& runner = extended ? *extended : runner_;
  return runner.run_some(inputs_of(runner, inputs), names);
}

RecordedValues::RecordedValues(const std::filesystem::path& file, std::vector<std::string> inputs)
    : name_(file.filename().string()), file_(file), inputs_(std::move(inputs)) {}

std::vector<std::string> RecordedValues::outputs() const {
  std::vector<std::string> names = file_.names();
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(inputs_, name) != inputs_.end();
  });
  return names;
}

std::vector<std::optional<NamedTensor>> RecordedValues::values(
    std::span<const NamedTensor>, std::span<const std::string> names) const {
  std::vector<std::optional<NamedTensor>> result;
  for (const std::string& name : names) {
    try {
      result.emplace_back(named_tensor(name, file_.read(name), ""));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      result.emplace_back();
    }
  }
  return result;
}

}  // namespace sampan::verify
