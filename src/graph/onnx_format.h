#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

/// Numbers of the ONNX protobuf schema that its reader and its writer share (github.com/onnx/onnx,
/// onnx/onnx.proto). Only fields that `graph::Model` carries have a name here.
namespace sampan::graph::onnx {

enum class ModelField : std::uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kDocString = 6,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadata = 14,
};

enum class OpsetField : std::uint32_t { kDomain = 1, kVersion = 2 };

/// Key and value of metadata and of external data.
enum class EntryField : std::uint32_t { kKey = 1, kValue = 2 };

enum class GraphField : std::uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kDocString = 10,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kMetadata = 16,
};

enum class NodeField : std::uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDocString = 6,
  kDomain = 7,
  kMetadata = 9,
};

enum class AttributeField : std::uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kDocString = 13,
  kType = 20,
};

enum class AttributeType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

enum class TensorField : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 4,
  kInt32Data = 5,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kDocString = 12,
  kExternalData = 13,
  kDataLocation = 14,
  kMetadata = 16,
};

enum class DataLocation : std::int32_t { kDefault = 0, kExternal = 1 };

enum class ValueField : std::uint32_t { kName = 1, kType = 2, kDocString = 3, kMetadata = 4 };
enum class TypeField : std::uint32_t { kTensor = 1, kDenotation = 6 };
enum class TensorTypeField : std::uint32_t { kElementType = 1, kShape = 2 };
enum class ShapeField : std::uint32_t { kDim = 1 };
enum class DimField : std::uint32_t { kValue = 1, kParam = 2, kDenotation = 3 };

/// TensorProto.DataType of an element type.
std::int32_t data_type_of(tensor::DType dtype) noexcept;
/// The inverse; nothing for a type that sampan has no name for.
std::optional<tensor::DType> dtype_of(std::int64_t data_type) noexcept;

}  // namespace sampan::graph::onnx
