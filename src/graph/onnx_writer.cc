#include "graph/onnx_writer.h"

#include <climits>
#include <deque>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "base/fail.h"
#include "graph/onnx_format.h"

namespace sampan::graph {
namespace {

using namespace onnx;

/// protobuf's own limit for one message.
constexpr std::uint64_t kMessageLimit = INT_MAX;

/// A message as the pieces it is written from: encoded bytes, and weights that are made only when
/// their turn comes. The weights are borrowed from the model.
class Rope {
 public:
  std::uint64_t size() const { return size_; }

  void add(std::string bytes) {
    size_ += bytes.size();
    pieces_.push_back({std::move(bytes), nullptr});
  }

  void add_weight(const Initializer& initializer) {
    size_ += byte_size(initializer);
    pieces_.push_back({{}, &initializer});
  }

  /// The tag and length of a field whose content of `length` bytes follows.
  void add_header(std::uint32_t field, std::uint64_t length) {
    constexpr std::uint32_t kLengthDelimited = 2;
    std::string header;
    protozero::add_varint_to_buffer(&header, (field << 3) | kLengthDelimited);
    protozero::add_varint_to_buffer(&header, length);
    add(std::move(header));
  }

  void add_message(std::uint32_t field, Rope&& message) {
    add_header(field, message.size());
    size_ += message.size_;
    for (Piece& piece : message.pieces_) pieces_.push_back(std::move(piece));
  }

  void write(const ByteSink& sink) const {
    std::string pending;  // small pieces go to the sink together
    constexpr std::size_t kPendingLimit = 64 * 1024;
    const auto flush = [&] {
      if (!pending.empty()) sink(std::as_bytes(std::span(pending)));
      pending.clear();
    };
    for (const Piece& piece : pieces_) {
      pending += piece.bytes;
      if (piece.weight != nullptr || pending.size() >= kPendingLimit) flush();
      if (piece.weight != nullptr) write_bytes(*piece.weight, sink);
    }
    flush();
  }

 private:
  struct Piece {
    std::string bytes;
    const Initializer* weight;
  };

  std::uint64_t size_ = 0;
  std::deque<Piece> pieces_;
};

template <typename Field>
constexpr std::uint32_t number(Field field) {
  return static_cast<std::uint32_t>(field);
}

template <typename Field>
using Builder = protozero::pbf_builder<Field>;

std::string encode_entry(const std::string& key, const std::string& value) {
  std::string bytes;
  Builder<EntryField> entry(bytes);
  entry.add_string(EntryField::kKey, key);
  entry.add_string(EntryField::kValue, value);
  return bytes;
}

void add_shape(Builder<TensorTypeField>& tensor, const std::vector<Dim>& dims) {
  Builder<ShapeField> shape(tensor, TensorTypeField::kShape);
  for (const Dim& dim : dims) {
    Builder<DimField> axis(shape, ShapeField::kDim);
    if (const auto* extent = std::get_if<std::int64_t>(&dim))
      axis.add_int64(DimField::kValue, *extent);
    else if (!std::get<std::string>(dim).empty())
      axis.add_string(DimField::kParam, std::get<std::string>(dim));
  }
}

std::string encode_value_info(const ValueInfo& value) {
  std::string bytes;
  {  // a nested builder is complete when it ends
    Builder<ValueField> info(bytes);
    info.add_string(ValueField::kName, value.name);
    Builder<TypeField> type(info, ValueField::kType);
    Builder<TensorTypeField> tensor(type, TypeField::kTensor);
    tensor.add_int32(TensorTypeField::kElementType, data_type_of(value.dtype));
    if (value.shape) add_shape(tensor, *value.shape);
  }
  return bytes;
}

/// The encoder of one model.
class Encoder {
 public:
  explicit Encoder(const WeightSink& weights) : weights_(weights) {}

  Rope encode(const Model& model) const {
    Rope rope;
    std::string head;
    {
      Builder<ModelField> fields(head);
      fields.add_int64(ModelField::kIrVersion, model.ir_version);
      fields.add_string(ModelField::kProducerName, model.producer_name);
      fields.add_string(ModelField::kProducerVersion, model.producer_version);
      if (!model.domain.empty()) fields.add_string(ModelField::kDomain, model.domain);
      if (model.model_version != 0)
        fields.add_int64(ModelField::kModelVersion, model.model_version);
    }
    rope.add(std::move(head));
    rope.add_message(number(ModelField::kGraph), encode(model.graph));
    std::string tail;
    {
      Builder<ModelField> fields(tail);
      for (const OpsetImport& import : model.opset_imports) {
        Builder<OpsetField> opset(fields, ModelField::kOpsetImport);
        opset.add_string(OpsetField::kDomain, import.domain);
        opset.add_int64(OpsetField::kVersion, import.version);
      }
      for (const auto& [key, value] : model.metadata)
        fields.add_message(ModelField::kMetadata, encode_entry(key, value));
    }
    rope.add(std::move(tail));
    return rope;
  }

 private:
  Rope encode(const Graph& graph) const {
    Rope rope;
    for (const Node& node : graph.nodes) rope.add_message(number(GraphField::kNode), encode(node));
    std::string name;
    Builder<GraphField>(name).add_string(GraphField::kName, graph.name);
    rope.add(std::move(name));
    for (const Initializer& initializer : graph.initializers) {
      const bool lies_elsewhere = std::holds_alternative<ExternalData>(initializer.data);
      const auto place =
          weights_ && !lies_elsewhere ? weights_(initializer) : std::optional<ExternalData>();
      rope.add_message(number(GraphField::kInitializer), encode(initializer, place));
    }
    std::string values;
    Builder<GraphField> fields(values);
    for (const ValueInfo& value : graph.inputs)
      fields.add_message(GraphField::kInput, encode_value_info(value));
    for (const ValueInfo& value : graph.outputs)
      fields.add_message(GraphField::kOutput, encode_value_info(value));
    for (const ValueInfo& value : graph.value_infos)
      fields.add_message(GraphField::kValueInfo, encode_value_info(value));
    rope.add(std::move(values));
    return rope;
  }

  Rope encode(const Node& node) const {
    Rope rope;
    std::string head;
    {
      Builder<NodeField> fields(head);
      for (const std::string& input : node.inputs) fields.add_string(NodeField::kInput, input);
      for (const std::string& output : node.outputs) fields.add_string(NodeField::kOutput, output);
      fields.add_string(NodeField::kName, node.name);
      fields.add_string(NodeField::kOpType, node.op_type);
    }
    rope.add(std::move(head));
    for (const auto& [name, value] : node.attributes)
      rope.add_message(number(NodeField::kAttribute), encode_attribute(name, value));
    if (!node.domain.empty()) {
      std::string domain;
      Builder<NodeField>(domain).add_string(NodeField::kDomain, node.domain);
      rope.add(std::move(domain));
    }
    return rope;
  }

  Rope encode_attribute(const std::string& name, const AttributeValue& value) const {
    Rope rope;
    std::string head;
    Builder<AttributeField> fields(head);
    fields.add_string(AttributeField::kName, name);
    AttributeType type = AttributeType::kUndefined;
    if (const auto* tensor = std::get_if<Initializer>(&value)) {
      rope.add(std::move(head));
      rope.add_message(number(AttributeField::kTensor), encode(*tensor, std::nullopt));
      type = AttributeType::kTensor;
    } else if (const auto* branch = std::get_if<std::shared_ptr<const Graph>>(&value)) {
      if (*branch == nullptr)
        base::fail(ErrorCode::kInternal, "attribute '{}' holds no graph", name);
      rope.add(std::move(head));
      rope.add_message(number(AttributeField::kGraph), encode(**branch));
      type = AttributeType::kGraph;
    } else {
      type = add_plain_attribute(fields, value);
      rope.add(std::move(head));
    }
    std::string tail;
    Builder<AttributeField>(tail).add_enum(AttributeField::kType, static_cast<std::int32_t>(type));
    rope.add(std::move(tail));
    return rope;
  }

  static AttributeType add_plain_attribute(Builder<AttributeField>& fields,
                                           const AttributeValue& value) {
    if (const auto* real = std::get_if<float>(&value)) {
      fields.add_float(AttributeField::kFloat, *real);
      return AttributeType::kFloat;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      fields.add_int64(AttributeField::kInt, *integer);
      return AttributeType::kInt;
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      fields.add_bytes(AttributeField::kString, *text);
      return AttributeType::kString;
    }
    if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
      for (const float item : *reals) fields.add_float(AttributeField::kFloats, item);
      return AttributeType::kFloats;
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
      for (const std::int64_t item : *integers) fields.add_int64(AttributeField::kInts, item);
      return AttributeType::kInts;
    }
    for (const std::string& item : std::get<std::vector<std::string>>(value))
      fields.add_bytes(AttributeField::kStrings, item);
    return AttributeType::kStrings;
  }

  static Rope encode(const Initializer& tensor, const std::optional<ExternalData>& place) {
    Rope rope;
    std::string head;
    Builder<TensorField> fields(head);
    for (const std::int64_t extent : tensor.shape) fields.add_int64(TensorField::kDims, extent);
    fields.add_int32(TensorField::kDataType, data_type_of(tensor.dtype));
    if (!tensor.name.empty()) fields.add_string(TensorField::kName, tensor.name);
    const auto* kept = std::get_if<ExternalData>(&tensor.data);
    if (const ExternalData* external = place ? &*place : kept) {
      if (external->length != byte_size(tensor))
        base::fail(ErrorCode::kInternal, "initializer '{}': {} external bytes for the shape {}",
                   tensor.name, external->length, tensor::to_string(tensor.shape));
      const std::pair<const char*, std::string> entries[] = {
          {"location", external->location},
          {"offset", std::to_string(external->offset)},
          {"length", std::to_string(external->length)}};
      for (const auto& [key, value] : entries)
        fields.add_message(TensorField::kExternalData, encode_entry(key, value));
      fields.add_enum(TensorField::kDataLocation,
                      static_cast<std::int32_t>(DataLocation::kExternal));
      rope.add(std::move(head));
      return rope;
    }
    rope.add(std::move(head));
    rope.add_header(number(TensorField::kRawData), byte_size(tensor));
    rope.add_weight(tensor);
    return rope;
  }

  const WeightSink& weights_;
};

}  // namespace

void write_model(const Model& model, const ByteSink& model_file, const WeightSink& weights) {
  const Rope rope = Encoder(weights).encode(model);
  if (rope.size() > kMessageLimit)
    base::fail(
        ErrorCode::kResourceExhausted,
        "the graph '{}' needs {} bytes in one file, but ONNX allows {}; store its weights in "
        "a data file (--layout shared)",
        model.graph.name, rope.size(), kMessageLimit);
  rope.write(model_file);
}

}  // namespace sampan::graph
