#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model.h"

namespace sampan::graph {

/// A value of a graph under construction: its name. The empty one is an optional input left out.
struct Value {
  std::string name;
};

/// What a node computes. Written as a string, it is of the domain ai.onnx.
struct Operator {
  Operator(const char* op_type) : type(op_type) {}       // NOLINT(google-explicit-constructor)
  Operator(std::string_view op_type) : type(op_type) {}  // NOLINT(google-explicit-constructor)
  Operator(std::string_view op_domain, std::string_view op_type)
      : type(op_type), domain(op_domain) {}

  std::string_view type;
  std::string_view domain;
};

using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Builds one graph from its inputs to its outputs:
///
///     GraphBuilder g("encoder");
///     const Value ids = g.input({"input_ids", DType::kI64, {{"batch_size", 12}}});
///     const auto scope = g.scope("embed");
///     const Value rows = g.node("Gather", {g.weight(table), ids});  // node "/embed/Gather"
///     g.output(rows, {"rows", DType::kF32, ...});
///     Graph graph = std::move(g).build();
///
/// Nodes are named by scope and operator, made unique by a counter; a value has the name of the
/// node that makes it. Names depend on nothing but the calls made. Not thread-safe.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);

  /// Prefixes the names of nodes while it lives.
  class Scope {
   public:
    Scope(GraphBuilder& builder, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder& builder_;
    std::size_t outer_length_;
  };
  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }

  Value input(ValueInfo info);
  /// Declares an output: `value` gets the name `info.name`. A value can be one output only, and an
  /// input none (put an Identity between).
  void output(const Value& value, ValueInfo info);

  /// A node with one output.
  Value node(Operator op, std::vector<Value> inputs, Attributes attributes = {});
  /// A node with `count` outputs.
  std::vector<Value> node_with_outputs(Operator op, std::vector<Value> inputs, std::size_t count,
                                       Attributes attributes = {});

  /// A weight, added once however often it is used. Throws `Error` kInternal when the name was
  /// given to one of another type or shape.
  Value weight(const Initializer& initializer);

  /// Constants; equal ones are one initializer.
  Value int_scalar(std::int64_t value);
  Value int_vector(const std::vector<std::int64_t>& values);
  Value float_scalar(float value);

  /// The finished graph; the builder is spent.
  Graph build() &&;

 private:
  std::string unique(std::string name);
  Value constant(std::string name, tensor::DType dtype, tensor::Shape shape,
                 std::vector<std::byte> bytes);

  Graph graph_;
  std::string prefix_;
  std::map<std::string, std::size_t> initializers_;  // index in graph_.initializers
  std::map<std::string, int> taken_;                 // names, and how many were asked for
  std::map<std::string, std::string> renamed_;       // value to output
};

}  // namespace sampan::graph
