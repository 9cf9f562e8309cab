#include "session/graph_runner.h"

#include <type_traits>
#include <utility>

#include "base/fail.h"
#include "session/graph.h"
#include "session/runtime.h"

namespace sampan::session {
namespace {

template <typename Element>
Ort::Value view_of(const NamedTensor& tensor, const std::vector<Element>& data) {
  const auto elements = tensor::element_count(tensor.shape);
  if (!elements || data.size() != static_cast<std::size_t>(*elements))
    base::fail(ErrorCode::kInvalidArgument, "input '{}' has {} values, which is not its shape {}",
               tensor.name, data.size(), tensor::to_string(tensor.shape));
  static const Ort::MemoryInfo kMemory =
      Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  // The runtime asks for an address even where there is nothing to read.
  static const Element nothing{};
  const Element* memory = data.empty() ? &nothing : data.data();
  using Stored = std::conditional_t<std::is_same_v<Element, std::uint8_t>, bool, Element>;
  auto* writable = const_cast<Element*>(memory);  // inputs are only read
  return Ort::Value::CreateTensor(kMemory, writable, data.size() * sizeof(Element),
                                  tensor.shape.data(), tensor.shape.size(),
                                  Ort::TypeToTensorType<Stored>::type);
}

NamedTensor copy_of(std::string name, const Ort::Value& value, const std::string& file) {
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  const std::size_t count = info.GetElementCount();
  NamedTensor result{std::move(name), info.GetShape(), std::vector<float>()};
  switch (info.GetElementType()) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: {
      const auto* data = value.GetTensorData<float>();
      result.data = std::vector<float>(data, data + count);
      return result;
    }
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: {
      const auto* data = static_cast<const std::uint16_t*>(value.GetTensorRawData());
      std::vector<float> floats(count);
      for (std::size_t i = 0; i < count; ++i) floats[i] = tensor::half_to_float(data[i]);
      result.data = std::move(floats);
      return result;
    }
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: {
      const auto* data = value.GetTensorData<std::int64_t>();
      result.data = std::vector<std::int64_t>(data, data + count);
      return result;
    }
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL: {
      const auto* data = value.GetTensorData<bool>();
      result.data = std::vector<std::uint8_t>(data, data + count);
      return result;
    }
    default:
      base::fail(ErrorCode::kUnsupported,
                 "{}: the output '{}' has ONNX element type {}, of which values cannot be compared",
                 file, result.name, static_cast<int>(info.GetElementType()));
  }
}

}  // namespace

class GraphRunner::Impl {
 public:
  template <typename... Source>
  explicit Impl(Source&&... source) : graph(std::forward<Source>(source)...) {}
  const Graph graph;
};

GraphRunner::GraphRunner(const std::filesystem::path& file, const SessionOptions& options)
    : impl_(std::make_unique<const Impl>(file, make_runtime_options(options))) {}
GraphRunner::GraphRunner(std::span<const std::byte> model, const std::string& name,
                         const SessionOptions& options)
    : impl_(std::make_unique<const Impl>(model, name, make_runtime_options(options))) {}
GraphRunner::~GraphRunner() = default;
GraphRunner::GraphRunner(GraphRunner&&) noexcept = default;
GraphRunner& GraphRunner::operator=(GraphRunner&&) noexcept = default;

const GraphSignature& GraphRunner::signature() const { return impl_->graph.signature(); }

std::vector<NamedTensor> GraphRunner::run(std::span<const NamedTensor> inputs,
                                          std::span<const std::string> outputs) const {
  std::vector<const char*> input_names;
  std::vector<const char*> output_names;
  std::vector<Ort::Value> views;
  std::vector<const OrtValue*> values;
  for (const NamedTensor& input : inputs) {
    input_names.push_back(input.name.c_str());
    views.push_back(std::visit([&](const auto& data) { return view_of(input, data); }, input.data));
    values.push_back(views.back());
  }
  for (const std::string& output : outputs) output_names.push_back(output.c_str());
  std::vector<Ort::Value> made;
  impl_->graph.run(input_names, values, output_names, made);
  std::vector<NamedTensor> results;
  for (std::size_t i = 0; i < made.size(); ++i)
    results.push_back(copy_of(outputs[i], made[i], signature().file));
  return results;
}

}  // namespace sampan::session
