#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

/// An ONNX model in memory, close to the protobuf (github.com/onnx/onnx, onnx.proto) and free of
/// it.
namespace sampan::graph {

/// One axis: a number, or a name that the caller fixes at each run.
using Dim = std::variant<std::int64_t, std::string>;

/// A graph input, output or inner value with its type.
struct ValueInfo {
  std::string name;
  tensor::DType dtype = tensor::DType::kF32;
  /// Nothing: the rank is unknown too. An unnamed unknown axis is an empty string.
  std::optional<std::vector<Dim>> shape;
};

/// Bytes in another file, as ONNX's external_data. `location` is relative to the model's folder.
struct ExternalData {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Makes the little-endian bytes of a tensor when they are written, so that a model of any size is
/// built with one tensor in memory at a time. `out` has the exact size.
using DataSource = std::function<void(std::span<std::byte> out)>;

/// Bytes in a mapped file, borrowed: `owner` keeps them alive, or is null when somebody else does.
struct BorrowedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// A constant tensor. `data` holds its little-endian bytes, a recipe for them, their place in
/// another file, or a view of them.
struct Initializer {
  std::string name;
  tensor::DType dtype = tensor::DType::kF32;
  tensor::Shape shape;
  std::variant<std::vector<std::byte>, DataSource, ExternalData, BorrowedBytes> data;
};

struct Graph;

/// A value of a node's attribute. Graphs (the branches of If) are shared and immutable.
using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, Initializer, std::shared_ptr<const Graph>>;

struct Node {
  std::string op_type;
  std::string domain;  ///< empty: ai.onnx
  std::string name;    ///< unique in its graph
  /// An empty string stands for an optional input that is left out.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, AttributeValue>> attributes;
};

struct Graph {
  std::string name;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Initializer> initializers;
  std::vector<Node> nodes;  ///< topologically sorted
  std::vector<ValueInfo> value_infos;
};

struct OpsetImport {
  std::string domain;  ///< empty: ai.onnx
  std::int64_t version = 0;
};

struct Model {
  std::int64_t ir_version = 8;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::int64_t model_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::vector<std::pair<std::string, std::string>> metadata;
  Graph graph;
};

}  // namespace sampan::graph
