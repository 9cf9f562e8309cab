#include "graph/onnx_reader.h"

#include <charconv>
#include <climits>
#include <cstring>
#include <optional>
#include <protozero/exception.hpp>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/mapped_file.h"
#include "graph/external_data.h"
#include "graph/message_reader.h"
#include "graph/onnx_format.h"

namespace sampan::graph {
namespace {

using namespace onnx;
using tensor::DType;

constexpr int kMaxGraphDepth = 16;
/// Nodes, values, tensors and attributes of one model: a bound on memory for hostile files, far
/// above any real model.
constexpr std::size_t kMaxItems = std::size_t{1} << 20;
/// Tensors of at least so many bytes are borrowed.
constexpr std::size_t kBorrowFrom = 1024;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Stored, typename Value>
void append_little_endian(std::vector<std::byte>& bytes, Value value) {
  const auto stored = static_cast<Stored>(value);
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(stored));
  std::memcpy(bytes.data() + at, &stored, sizeof(stored));
}

/// The parts of a TensorProto before they are put together.
struct TensorParts {
  Initializer tensor;
  std::int64_t data_type = 0;
  std::int64_t location = 0;
  std::optional<std::string_view> raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers32;
  std::vector<std::int64_t> integers64;
  std::vector<std::pair<std::string, std::string>> external;
};

/// Elements of a TensorProto that are stored as numbers rather than raw bytes.
std::vector<std::byte> bytes_of_numbers(const TensorParts& parts) {
  std::vector<std::byte> bytes;
  switch (parts.tensor.dtype) {
    case DType::kF32:
      for (const float value : parts.floats) append_little_endian<float>(bytes, value);
      break;
    case DType::kF64:
      for (const double value : parts.doubles) append_little_endian<double>(bytes, value);
      break;
    case DType::kI64:
      for (const auto value : parts.integers64) append_little_endian<std::int64_t>(bytes, value);
      break;
    case DType::kI32:
      for (const auto value : parts.integers32) append_little_endian<std::int32_t>(bytes, value);
      break;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
      for (const auto value : parts.integers32) append_little_endian<std::uint16_t>(bytes, value);
      break;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      for (const auto value : parts.integers32) append_little_endian<std::uint8_t>(bytes, value);
      break;
  }
  return bytes;
}

/// The decoder of one model.
class Decoder {
 public:
  explicit Decoder(std::shared_ptr<const void> owner) : owner_(std::move(owner)) {}

  Model decode_model(std::string_view bytes) {
    Model model;
    model.ir_version = 0;
    std::optional<std::string_view> graph;
    MessageReader<ModelField> reader(bytes, "model");
    while (reader.next()) switch (reader.field()) {
        case ModelField::kIrVersion:
          model.ir_version = reader.integer();
          break;
        case ModelField::kProducerName:
          model.producer_name = reader.text();
          break;
        case ModelField::kProducerVersion:
          model.producer_version = reader.text();
          break;
        case ModelField::kDomain:
          model.domain = reader.text();
          break;
        case ModelField::kModelVersion:
          model.model_version = reader.integer();
          break;
        case ModelField::kDocString:
          reader.skip();
          break;
        case ModelField::kGraph:
          if (graph) base::fail(ErrorCode::kInvalidData, "model: it has two graphs");
          graph = reader.bytes();
          break;
        case ModelField::kOpsetImport:
          count_item();
          model.opset_imports.push_back(decode_opset(reader.bytes()));
          break;
        case ModelField::kMetadata:
          count_item();
          model.metadata.push_back(decode_entry(reader.bytes()));
          break;
        default:
          reader.refuse_field();
      }
    if (!graph || model.ir_version <= 0)
      base::fail(ErrorCode::kInvalidData, "it has no graph or no IR version");
    model.graph = decode_graph(*graph, 0);
    return model;
  }

 private:
  static OpsetImport decode_opset(std::string_view bytes) {
    OpsetImport import;
    MessageReader<OpsetField> reader(bytes, "opset import");
    while (reader.next()) switch (reader.field()) {
        case OpsetField::kDomain:
          import.domain = reader.text();
          break;
        case OpsetField::kVersion:
          import.version = reader.integer();
          break;
        default:
          reader.refuse_field();
      }
    if (import.domain == "ai.onnx") import.domain.clear();  // the same domain by definition
    return import;
  }

  static std::pair<std::string, std::string> decode_entry(std::string_view bytes) {
    std::pair<std::string, std::string> entry;
    MessageReader<EntryField> reader(bytes, "metadata");
    while (reader.next()) switch (reader.field()) {
        case EntryField::kKey:
          entry.first = reader.text();
          break;
        case EntryField::kValue:
          entry.second = reader.text();
          break;
        default:
          reader.refuse_field();
      }
    return entry;
  }

  Graph decode_graph(std::string_view bytes, int depth) {
    if (depth > kMaxGraphDepth)
      base::fail(ErrorCode::kInvalidData, "graph: more than {} graphs lie in each other",
                 kMaxGraphDepth);
    Graph graph;
    MessageReader<GraphField> reader(bytes, "graph");
    while (reader.next()) {
      count_item();
      switch (reader.field()) {
        case GraphField::kNode:
          graph.nodes.push_back(decode_node(reader.bytes(), depth));
          break;
        case GraphField::kName:
          graph.name = reader.text();
          break;
        case GraphField::kInitializer:
          graph.initializers.push_back(decode_tensor(reader.bytes()));
          break;
        case GraphField::kInput:
          graph.inputs.push_back(decode_value(reader.bytes()));
          break;
        case GraphField::kOutput:
          graph.outputs.push_back(decode_value(reader.bytes()));
          break;
        case GraphField::kValueInfo:
          graph.value_infos.push_back(decode_value(reader.bytes()));
          break;
        case GraphField::kDocString:
        case GraphField::kMetadata:
          reader.skip();
          break;
        default:
          reader.refuse_field();
      }
    }
    return graph;
  }

  Node decode_node(std::string_view bytes, int depth) {
    Node node;
    std::vector<std::string_view> attributes;  // decoded last: their errors name the node
    MessageReader<NodeField> reader(bytes, "node");
    while (reader.next()) {
      count_item();
      switch (reader.field()) {
        case NodeField::kInput:
          node.inputs.push_back(reader.text());
          break;
        case NodeField::kOutput:
          node.outputs.push_back(reader.text());
          break;
        case NodeField::kName:
          node.name = reader.text();
          break;
        case NodeField::kOpType:
          node.op_type = reader.text();
          break;
        case NodeField::kDomain:
          node.domain = reader.text();
          break;
        case NodeField::kAttribute:
          attributes.push_back(reader.bytes());
          break;
        case NodeField::kDocString:
        case NodeField::kMetadata:
          reader.skip();
          break;
        default:
          reader.refuse_field();
      }
    }
    if (node.domain == "ai.onnx") node.domain.clear();
    for (const std::string_view attribute : attributes)
      node.attributes.push_back(decode_attribute(attribute, node, depth));
    return node;
  }

  struct AttributeParts {
    std::string name;
    AttributeType type = AttributeType::kUndefined;
    float real = 0;
    std::int64_t integer = 0;
    std::string text;
    std::optional<std::string_view> tensor;
    std::optional<std::string_view> graph;
    std::vector<float> reals;
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
  };

  AttributeParts decode_attribute_parts(std::string_view bytes, const std::string& what) {
    AttributeParts parts;
    MessageReader<AttributeField> reader(bytes, what);
    AttributeType seen = AttributeType::kUndefined;  // files before IR version 2 name no type
    while (reader.next()) {
      count_item();
      switch (reader.field()) {
        case AttributeField::kName:
          parts.name = reader.text();
          break;
        case AttributeField::kType:
          parts.type = static_cast<AttributeType>(reader.integer());
          break;
        case AttributeField::kFloat:
          parts.real = reader.real(), seen = AttributeType::kFloat;
          break;
        case AttributeField::kInt:
          parts.integer = reader.integer(), seen = AttributeType::kInt;
          break;
        case AttributeField::kString:
          parts.text = reader.text(), seen = AttributeType::kString;
          break;
        case AttributeField::kTensor:
          parts.tensor = reader.bytes(), seen = AttributeType::kTensor;
          break;
        case AttributeField::kGraph:
          parts.graph = reader.bytes(), seen = AttributeType::kGraph;
          break;
        case AttributeField::kFloats:
          reader.append_reals(parts.reals), seen = AttributeType::kFloats;
          break;
        case AttributeField::kInts:
          reader.append_integers(parts.integers), seen = AttributeType::kInts;
          break;
        case AttributeField::kStrings:
          parts.texts.push_back(reader.text()), seen = AttributeType::kStrings;
          break;
        case AttributeField::kDocString:
          reader.skip();
          break;
        default:
          reader.refuse_field();
      }
    }
    if (parts.type == AttributeType::kUndefined) parts.type = seen;
    return parts;
  }

  std::pair<std::string, AttributeValue> decode_attribute(std::string_view bytes, const Node& node,
                                                          int depth) {
    const std::string what = fmt::format("an attribute of node '{}' ({})", node.name, node.op_type);
    AttributeParts parts = decode_attribute_parts(bytes, what);
    switch (parts.type) {
      case AttributeType::kFloat:
        return {std::move(parts.name), parts.real};
      case AttributeType::kInt:
        return {std::move(parts.name), parts.integer};
      case AttributeType::kString:
        return {std::move(parts.name), std::move(parts.text)};
      case AttributeType::kFloats:
        return {std::move(parts.name), std::move(parts.reals)};
      case AttributeType::kInts:
        return {std::move(parts.name), std::move(parts.integers)};
      case AttributeType::kStrings:
        return {std::move(parts.name), std::move(parts.texts)};
      case AttributeType::kTensor:
        if (parts.tensor) return {std::move(parts.name), decode_tensor(*parts.tensor)};
        break;
      case AttributeType::kGraph:
        if (parts.graph)
          return {std::move(parts.name),
                  std::make_shared<const Graph>(decode_graph(*parts.graph, depth + 1))};
        break;
      default:
        base::fail(ErrorCode::kUnsupported,
                   "{}: '{}' has type {} of ONNX's schema, which is not "
                   "supported",
                   what, parts.name, static_cast<std::int32_t>(parts.type));
    }
    base::fail(ErrorCode::kInvalidData, "{}: '{}' has no value", what, parts.name);
  }

  TensorParts decode_tensor_parts(std::string_view bytes) {
    TensorParts parts;
    MessageReader<TensorField> reader(bytes, "tensor");
    while (reader.next()) switch (reader.field()) {
        case TensorField::kDims:
          reader.append_integers(parts.tensor.shape);
          break;
        case TensorField::kDataType:
          parts.data_type = reader.integer();
          break;
        case TensorField::kName:
          parts.tensor.name = reader.text();
          break;
        case TensorField::kRawData:
          parts.raw = reader.bytes();
          break;
        case TensorField::kFloatData:
          reader.append_reals(parts.floats);
          break;
        case TensorField::kDoubleData:
          reader.append_reals(parts.doubles);
          break;
        case TensorField::kInt32Data:
          reader.append_integers(parts.integers32);
          break;
        case TensorField::kInt64Data:
          reader.append_integers(parts.integers64);
          break;
        case TensorField::kExternalData:
          count_item();
          parts.external.push_back(decode_entry(reader.bytes()));
          break;
        case TensorField::kDataLocation:
          parts.location = reader.integer();
          break;
        case TensorField::kDocString:
        case TensorField::kMetadata:
          reader.skip();
          break;
        default:
          reader.refuse_field();
      }
    return parts;
  }

  Initializer decode_tensor(std::string_view bytes) {
    TensorParts parts = decode_tensor_parts(bytes);
    const auto dtype = dtype_of(parts.data_type);
    if (!dtype)
      base::fail(ErrorCode::kUnsupported,
                 "tensor '{}': element type {} of ONNX's schema is not supported",
                 parts.tensor.name, parts.data_type);
    parts.tensor.dtype = *dtype;
    const std::uint64_t expected = byte_size(parts.tensor);
    if (parts.location == static_cast<std::int64_t>(DataLocation::kExternal)) {
      parts.tensor.data = decode_external(parts, expected);
      return std::move(parts.tensor);
    }
    std::uint64_t found = 0;
    if (parts.raw) {
      found = parts.raw->size();
      const auto raw = std::as_bytes(std::span(*parts.raw));
      if (found >= kBorrowFrom)
        parts.tensor.data = BorrowedBytes{raw, owner_};
      else
        parts.tensor.data = std::vector<std::byte>(raw.begin(), raw.end());
    } else {
      auto numbers = bytes_of_numbers(parts);
      found = numbers.size();
      parts.tensor.data = std::move(numbers);
    }
    if (found != expected)
      base::fail(ErrorCode::kInvalidData, "tensor '{}': {} bytes, but {} {} asks for {}",
                 parts.tensor.name, found, tensor::name_of(*dtype),
                 tensor::to_string(parts.tensor.shape), expected);
    return std::move(parts.tensor);
  }

  static ExternalData decode_external(const TensorParts& parts, std::uint64_t expected) {
    ExternalData place;
    place.length = expected;  // may be left out
    for (const auto& [key, value] : parts.external) {
      if (key == "location") {
        place.location = value;
      } else if (key == "offset") {
        place.offset = decode_number(parts, key, value);
      } else if (key == "length") {
        place.length = decode_number(parts, key, value);
      } else if (key != "checksum") {
        base::fail(ErrorCode::kUnsupported, "tensor '{}': external data with '{}' is not supported",
                   parts.tensor.name, key);
      }
    }
    if (place.location.empty())
      base::fail(ErrorCode::kInvalidData, "tensor '{}': its external data names no file",
                 parts.tensor.name);
    if (place.length != expected)
      base::fail(ErrorCode::kInvalidData, "tensor '{}': {} external bytes, but {} {} asks for {}",
                 parts.tensor.name, place.length, tensor::name_of(parts.tensor.dtype),
                 tensor::to_string(parts.tensor.shape), expected);
    return place;
  }

  static std::uint64_t decode_number(const TensorParts& parts, const std::string& key,
                                     const std::string& value) {
    std::uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end)
      base::fail(ErrorCode::kInvalidData, "tensor '{}': the external {} '{}' is not a number",
                 parts.tensor.name, key, value);
    return number;
  }

  ValueInfo decode_value(std::string_view bytes) {
    ValueInfo value;
    std::optional<std::string_view> type;
    MessageReader<ValueField> reader(bytes, "value");
    while (reader.next()) switch (reader.field()) {
        case ValueField::kName:
          value.name = reader.text();
          break;
        case ValueField::kType:
          type = reader.bytes();
          break;
        case ValueField::kDocString:
        case ValueField::kMetadata:
          reader.skip();
          break;
        default:
          reader.refuse_field();
      }
    const std::string what = fmt::format("the type of value '{}'", value.name);
    std::optional<std::string_view> tensor;
    if (type) {
      MessageReader<TypeField> type_reader(*type, what);
      while (type_reader.next()) switch (type_reader.field()) {
          case TypeField::kTensor:
            tensor = type_reader.bytes();
            break;
          case TypeField::kDenotation:
            type_reader.skip();
            break;
          default:
            type_reader.refuse_field();
        }
    }
    if (!tensor) base::fail(ErrorCode::kUnsupported, "{} is not given", what);
    decode_tensor_type(*tensor, what, value);
    return value;
  }

  void decode_tensor_type(std::string_view bytes, const std::string& what, ValueInfo& value) {
    std::int64_t data_type = 0;
    MessageReader<TensorTypeField> reader(bytes, what);
    while (reader.next()) switch (reader.field()) {
        case TensorTypeField::kElementType:
          data_type = reader.integer();
          break;
        case TensorTypeField::kShape:
          value.shape = decode_shape(reader.bytes(), what);
          break;
        default:
          reader.refuse_field();
      }
    const auto dtype = dtype_of(data_type);
    if (!dtype)
      base::fail(ErrorCode::kUnsupported, "{}: element type {} of ONNX's schema is not supported",
                 what, data_type);
    value.dtype = *dtype;
  }

  std::vector<Dim> decode_shape(std::string_view bytes, const std::string& what) {
    std::vector<Dim> dims;
    MessageReader<ShapeField> reader(bytes, what);
    while (reader.next()) {
      count_item();
      if (reader.field() != ShapeField::kDim) reader.refuse_field();
      Dim dim = std::string();
      MessageReader<DimField> axis(reader.bytes(), what);
      while (axis.next()) switch (axis.field()) {
          case DimField::kValue:
            dim = axis.integer();
            break;
          case DimField::kParam:
            dim = axis.text();
            break;
          case DimField::kDenotation:
            axis.skip();
            break;
          default:
            axis.refuse_field();
        }
      dims.push_back(std::move(dim));
    }
    return dims;
  }

  void count_item() {
    if (++items_ > kMaxItems)
      base::fail(ErrorCode::kResourceExhausted, "more than {} nodes, values and attributes",
                 kMaxItems);
  }

  std::shared_ptr<const void> owner_;
  std::size_t items_ = 0;
};

void refuse_what_is_no_model(std::span<const std::byte> bytes, const std::string& name) {
  base::refuse_foreign_content(bytes, name);
  if (bytes.size() > INT_MAX)
    base::fail(ErrorCode::kInvalidData,
               "{}: {} bytes, but an ONNX model has at most 2 GiB; large weights belong in a data "
               "file beside it",
               name, bytes.size());
}

}  // namespace

Model read_model(std::span<const std::byte> bytes, const std::string& name,
                 std::shared_ptr<const void> owner) {
  refuse_what_is_no_model(bytes, name);
  try {
    return Decoder(std::move(owner)).decode_model(text_of(bytes));
  } catch (const Error& error) {
    base::fail(error.code(), "{}: {}", name, error.what());
  } catch (const protozero::exception& error) {
    base::fail(ErrorCode::kInvalidData,
               "{}: not a whole ONNX model ({}); it is truncated or damaged, fetch it again", name,
               error.what());
  }
}

Model read_model_file(const std::filesystem::path& path) {
  const auto file = std::make_shared<const base::MappedFile>(path);
  return read_model(file->bytes(), path.string(), file);
}

}  // namespace sampan::graph
