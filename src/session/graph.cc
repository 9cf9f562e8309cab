#include "session/graph.h"

#include "base/fail.h"
#include "session/runtime.h"

namespace sampan::session {
namespace {

std::string type_name(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return "float32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return "int64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return "bool";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return "float16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
      return "bfloat16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return "int32";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return "float64";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      return "int16";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return "int8";
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return "uint8";
    default:
      return "ONNX element type " + std::to_string(static_cast<int>(type));
  }
}

ValueSignature describe(std::string name, const Ort::TypeInfo& type) {
  ValueSignature value;
  value.name = std::move(name);
  value.dtype = "not a tensor";
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return value;
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  value.dtype = type_name(tensor.GetElementType());
  value.dims = tensor.GetShape();
  std::vector<const char*> axes(value.dims.size(), nullptr);
  if (!axes.empty()) tensor.GetSymbolicDimensions(axes.data(), axes.size());
  for (const char* axis : axes) value.axes.emplace_back(axis == nullptr ? "" : axis);
  return value;
}

GraphSignature describe(const std::string& file, const Ort::Session& session) {
  GraphSignature signature;
  signature.file = file;
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i)
    signature.inputs.push_back(
        describe(session.GetInputNameAllocated(i, allocator).get(), session.GetInputTypeInfo(i)));
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i)
    signature.outputs.push_back(
        describe(session.GetOutputNameAllocated(i, allocator).get(), session.GetOutputTypeInfo(i)));
  return signature;
}

Ort::Session open(const std::filesystem::path& file, const Ort::SessionOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    base::fail(ErrorCode::kNotFound, "{}: no such graph file; export the package again",
               file.string());
  try {
    return Ort::Session(environment(), file.c_str(), options);
  } catch (const Ort::Exception& failure) {
    fail_to_load(file.string(), failure);
  }
}

Ort::Session open(std::span<const std::byte> model, const std::string& name,
                  const Ort::SessionOptions& options) {
  try {
    return Ort::Session(environment(), model.data(), model.size(), options);
  } catch (const Ort::Exception& failure) {
    fail_to_load(name, failure);
  }
}

}  // namespace

Graph::Graph(const std::filesystem::path& file, const Ort::SessionOptions& options)
    : session_(open(file, options)), signature_(describe(file.string(), session_)) {}

Graph::Graph(std::span<const std::byte> model, const std::string& name,
             const Ort::SessionOptions& options)
    : session_(open(model, name, options)), signature_(describe(name, session_)) {}

void Graph::run(const std::vector<const char*>& input_names,
                const std::vector<const OrtValue*>& inputs,
                const std::vector<const char*>& output_names,
                std::vector<Ort::Value>& outputs) const {
  outputs.clear();
  std::vector<OrtValue*> made(output_names.size(), nullptr);
  run_into(input_names, inputs, output_names, made);
  outputs.reserve(made.size());
  for (OrtValue* value : made) outputs.emplace_back(value);
}

void Graph::run_into(const std::vector<const char*>& input_names,
                     const std::vector<const OrtValue*>& inputs,
                     const std::vector<const char*>& output_names,
                     std::vector<OrtValue*>& outputs) const {
  const OrtApi& api = Ort::GetApi();
  // The session is thread-safe; the C API only lacks the word const.
  auto* session = const_cast<OrtSession*>(static_cast<const OrtSession*>(session_));
  OrtStatus* status = api.Run(session, nullptr, input_names.data(), inputs.data(), inputs.size(),
                              output_names.data(), output_names.size(), outputs.data());
  if (status == nullptr) return;
  const Ort::Exception error(api.GetErrorMessage(status), api.GetErrorCode(status));
  api.ReleaseStatus(status);
  fail_to_run(signature_.file, error);
}

}  // namespace sampan::session
