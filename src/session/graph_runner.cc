#include "session/graph_runner.h"

#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/fail.h"
#include "session/graph.h"
#include "session/runtime.h"

namespace sampan::session {
namespace {

/// A half float among the runtime's element types.
struct Half {
  std::uint16_t bits;
};

template <typename Element>
constexpr ONNXTensorElementDataType kElementType = Ort::TypeToTensorType<Element>::type;
template <>
constexpr ONNXTensorElementDataType kElementType<Half> = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;

template <typename Element>
Ort::Value new_tensor(const tensor::Shape& shape, Element*& data) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value =
      Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), kElementType<Element>);
  data = static_cast<Element*>(value.GetTensorMutableRawData());
  return value;
}

template <typename Element, typename Source>
Ort::Value converted(const tensor::Shape& shape, const std::vector<Source>& data) {
  Element* out = nullptr;
  Ort::Value value = new_tensor(shape, out);
  std::ranges::transform(data, out, [](Source element) {
    if constexpr (std::is_same_v<Element, Half>)
      return Half{tensor::float_to_half(element)};
    else
      return static_cast<Element>(element);
  });
  return value;
}

/// The tensor as the graph declares it: `dtype` is the signature's name.
Ort::Value value_of(const tensor::Shape& shape, const std::vector<float>& data,
                    std::string_view dtype) {
  if (dtype == "float16") return converted<Half>(shape, data);
  if (dtype == "float64") return converted<double>(shape, data);
  return converted<float>(shape, data);
}

Ort::Value value_of(const tensor::Shape& shape, const std::vector<std::int64_t>& data,
                    std::string_view dtype) {
  if (dtype == "int32") return converted<std::int32_t>(shape, data);
  if (dtype == "int16") return converted<std::int16_t>(shape, data);
  if (dtype == "int8") return converted<std::int8_t>(shape, data);
  if (dtype == "uint8") return converted<std::uint8_t>(shape, data);
  return converted<std::int64_t>(shape, data);
}

Ort::Value value_of(const tensor::Shape& shape, const std::vector<std::uint8_t>& data,
                    std::string_view) {
  return converted<bool>(shape, data);
}

Ort::Value value_of(const NamedTensor& tensor, const GraphSignature& signature) {
  const auto elements = tensor::element_count(tensor.shape);
  const ValueSignature* declared = signature.input(tensor.name);
  return std::visit(
      [&](const auto& data) {
        if (!elements || data.size() != static_cast<std::size_t>(*elements))
          base::fail(ErrorCode::kInvalidArgument,
                     "input '{}' has {} values, which is not its shape {}", tensor.name,
                     data.size(), tensor::to_string(tensor.shape));
        // The runtime itself says what is wrong with a name or a type that the graph lacks.
        return value_of(tensor.shape, data, declared ? std::string_view(declared->dtype) : "");
      },
      tensor.data);
}

template <typename Element, typename Stored>
std::vector<Element> copied(const Ort::Value& value, std::size_t count) {
  const auto* data = static_cast<const Stored*>(value.GetTensorRawData());
  std::vector<Element> elements(count);
  std::transform(data, data + count, elements.begin(), [](Stored element) {
    if constexpr (std::is_same_v<Stored, Half>)
      return tensor::half_to_float(element.bits);
    else
      return static_cast<Element>(element);
  });
  return elements;
}

/// Nothing for what no `NamedTensor` can hold. The runtime also leaves some inner values empty that
/// became outputs, where it computed them in place.
std::optional<NamedTensor> copy_of(const std::string& name, const Ort::Value& value) {
  if (!value.HasValue() || !value.IsTensor()) return std::nullopt;
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  const std::size_t count = info.GetElementCount();
  NamedTensor result{name, info.GetShape(), std::vector<float>()};
  switch (info.GetElementType()) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      result.data = copied<float, float>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      result.data = copied<float, Half>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      result.data = copied<float, double>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      result.data = copied<std::int64_t, std::int64_t>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      result.data = copied<std::int64_t, std::int32_t>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      result.data = copied<std::int64_t, std::int16_t>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      result.data = copied<std::int64_t, std::int8_t>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      result.data = copied<std::int64_t, std::uint8_t>(value, count);
      return result;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      result.data = copied<std::uint8_t, bool>(value, count);
      return result;
    default:
      return std::nullopt;
  }
}

Ort::SessionOptions options_with_data(const SessionOptions& options,
                                      const std::filesystem::path& data_folder) {
  Ort::SessionOptions result = make_runtime_options(options);
  if (!data_folder.empty())
    result.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                          data_folder.c_str());
  return result;
}

}  // namespace

bool is_runnable(const ValueSignature& value) {
  constexpr std::array<std::string_view, 9> kTypes = {
      "float32", "float16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool"};
  return std::ranges::find(kTypes, value.dtype) != kTypes.end();
}

class GraphRunner::Impl {
 public:
  template <typename... Source>
  explicit Impl(Source&&... source) : graph(std::forward<Source>(source)...) {}
  const Graph graph;
};

GraphRunner::GraphRunner(const std::filesystem::path& file, const SessionOptions& options)
    : impl_(std::make_unique<const Impl>(file, make_runtime_options(options))) {}
GraphRunner::GraphRunner(std::span<const std::byte> model, const std::string& name,
                         const SessionOptions& options, const std::filesystem::path& data_folder)
    : impl_(std::make_unique<const Impl>(model, name, options_with_data(options, data_folder))) {}
GraphRunner::~GraphRunner() = default;
GraphRunner::GraphRunner(GraphRunner&&) noexcept = default;
GraphRunner& GraphRunner::operator=(GraphRunner&&) noexcept = default;

const GraphSignature& GraphRunner::signature() const { return impl_->graph.signature(); }

std::vector<NamedTensor> GraphRunner::run(std::span<const NamedTensor> inputs,
                                          std::span<const std::string> outputs) const {
  std::vector<NamedTensor> results;
  std::vector<std::optional<NamedTensor>> made = run_some(inputs, outputs);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i])
      base::fail(
          ErrorCode::kUnsupported,
          "{}: the output '{}' holds no tensor of numbers that can be compared; leave it out",
          signature().file, outputs[i]);
    results.push_back(*std::move(made[i]));
  }
  return results;
}

std::vector<std::optional<NamedTensor>> GraphRunner::run_some(
    std::span<const NamedTensor> inputs, std::span<const std::string> outputs) const {
  std::vector<const char*> input_names;
  std::vector<const char*> output_names;
  std::vector<Ort::Value> tensors;
  std::vector<const OrtValue*> values;
  for (const NamedTensor& input : inputs) {
    input_names.push_back(input.name.c_str());
    tensors.push_back(value_of(input, signature()));
    values.push_back(tensors.back());
  }
  for (const std::string& output : outputs) output_names.push_back(output.c_str());
  std::vector<Ort::Value> made;
  impl_->graph.run(input_names, values, output_names, made);
  std::vector<std::optional<NamedTensor>> results;
  for (std::size_t i = 0; i < made.size(); ++i) results.push_back(copy_of(outputs[i], made[i]));
  return results;
}

}  // namespace sampan::session
