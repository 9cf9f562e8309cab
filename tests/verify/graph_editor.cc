#include "verify/graph_editor.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>

#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"

namespace sampan::verify {
namespace {

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

GraphEditor::GraphEditor(const std::filesystem::path& file, const std::string& branch)
    : model_(graph::read_model_file(file)), opened_(model_), branch_(branch) {
  graph::open_external_data(opened_, file);
  if (branch.empty()) return;
  prefix_ = branch;
  const std::string attribute = branch == "with_past" ? "then_branch" : "else_branch";
  for (auto& node : model_.graph.nodes)
    for (auto& [name, value] : node.attributes)
      if (name == attribute) {
        branch_graph_ =
            std::make_shared<graph::Graph>(*std::get<std::shared_ptr<const graph::Graph>>(value));
        value = std::shared_ptr<const graph::Graph>(branch_graph_);
      }
  if (!branch_graph_) throw std::runtime_error("no branch " + branch);
}

graph::Graph& GraphEditor::target() { return branch_graph_ ? *branch_graph_ : model_.graph; }

void GraphEditor::write(const std::filesystem::path& file) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  graph::write_model(model_, [&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
  });
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

graph::Node& GraphEditor::node(const std::string& name) {
  for (graph::Node& node : target().nodes)
    if (node.name == prefix_ + name) return node;
  throw std::runtime_error("no node " + name);
}

void GraphEditor::bypass(const std::string& name, std::size_t input) {
  const graph::Node removed = node(name);
  std::erase_if(target().nodes, [&](const auto& other) { return other.name == removed.name; });
  for (graph::Node& other : target().nodes)
    std::ranges::replace(other.inputs, removed.outputs.front(), removed.inputs.at(input));
}

void GraphEditor::insert_behind(const std::string& value, std::vector<graph::Node> nodes) {
  auto& all = target().nodes;
  const std::string last = nodes.back().outputs.front();
  bool read = false;
  for (graph::Node& other : all)
    for (std::string& input : other.inputs)
      if (input == value) {
        input = last;
        read = true;
      }
  if (!read) throw std::runtime_error("nobody reads " + value);
  for (graph::Node& node : nodes) std::ranges::replace(node.inputs, std::string("value"), value);
  const auto maker = std::ranges::find_if(
      all, [&](const auto& node) { return std::ranges::count(node.outputs, value) > 0; });
  all.insert(maker == all.end() ? all.begin() : maker + 1, nodes.begin(), nodes.end());
}

std::string GraphEditor::constant(float value) {
  const std::string name = prefix_ + "/fault/" + std::to_string(constants_++);
  target().initializers.push_back(
      {name, tensor::DType::kF32, {}, bytes_of(std::vector<float>{value})});
  return name;
}

std::string GraphEditor::constant(std::vector<std::int64_t> values, bool scalar) {
  const std::string name = prefix_ + "/fault/" + std::to_string(constants_++);
  tensor::Shape shape;
  if (!scalar) shape = {static_cast<std::int64_t>(values.size())};
  target().initializers.push_back({name, tensor::DType::kI64, shape, bytes_of(values)});
  return name;
}

std::vector<float> GraphEditor::weight(const std::string& name) const {
  for (const auto& initializer : opened_.graph.initializers)
    if (initializer.name == name) {
      std::vector<float> values(graph::byte_size(initializer) / sizeof(float));
      graph::copy_bytes(initializer, std::as_writable_bytes(std::span(values)));
      return values;
    }
  throw std::runtime_error("no weight " + name);
}

void GraphEditor::replace_input(const std::string& name, std::size_t input,
                                std::vector<float> values, tensor::Shape shape) {
  const std::string fresh = "/fault/weight" + std::to_string(constants_++);
  model_.graph.initializers.push_back(
      {fresh, tensor::DType::kF32, std::move(shape), bytes_of(values)});
  node(name).inputs.at(input) = fresh;
}

}  // namespace sampan::verify
