#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"

/// What a pass that replaces weights has to know of names: where an initializer lies, seen from a
/// branch, and who else reads a value.
namespace sampan::quantize {

/// How often each value is read, by nodes and as an output, in a graph and its branches.
using UseCounts = std::map<std::string, std::size_t, std::less<>>;
UseCounts count_uses(const graph::Graph& graph);

/// A graph on the way from the outermost to the one at hand, while it is rewritten. Borrows the
/// graph and the scope around it.
struct GraphScope {
  GraphScope(const graph::Graph& graph, GraphScope* outer_scope);

  /// Initializers that the rewritten graph has beside its old ones; a name counts once.
  void add(graph::Initializer initializer);

  GraphScope* outer = nullptr;
  std::map<std::string, const graph::Initializer*, std::less<>> initializers;
  std::set<std::string, std::less<>> inputs;
  std::vector<graph::Initializer> added;

 private:
  std::set<std::string, std::less<>> added_names_;
};

/// An initializer and the graph that it lies in; null where there is none.
struct FoundInitializer {
  const graph::Initializer* initializer = nullptr;
  GraphScope* scope = nullptr;
};

/// The initializer that a name stands for in `scope`. One that is a graph input too is not found:
/// callers may replace it.
FoundInitializer find_initializer(std::string_view name, GraphScope& scope);

/// Whether a name is an input of this graph or of one around it.
bool is_graph_input(std::string_view name, const GraphScope& scope);

/// Whether a node is this operator of ai.onnx.
bool is_standard(const graph::Node& node, std::string_view op_type);

/// An attribute's value, or `otherwise` where the node has none of this name and type.
std::int64_t integer_attribute(const graph::Node& node, std::string_view name,
                               std::int64_t otherwise);
float real_attribute(const graph::Node& node, std::string_view name, float otherwise);

}  // namespace sampan::quantize
