#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "quantize/graph_scope.h"
#include "quantize/integer_weights.h"
#include "quantize/weight_use.h"

/// What the schemes with 8-bit matrices and operators of ai.onnx share.
namespace sampan::quantize {

/// Says of a weight's name whether it stays as it is.
using KeepFloat = std::function<bool(const std::string&)>;

/// ONNX's number of fp32, which Cast takes.
inline constexpr std::int64_t kCastToFloat = 1;

/// A rounded weight and the graph that it lies in. Each member adds an initializer to that graph,
/// unless it is there, and returns its name.
class PlacedWeight {
 public:
  PlacedWeight(const FoundInitializer& original, Orientation orientation,
               std::shared_ptr<const IntegerWeights> weights)
      : original_(original), orientation_(orientation), weights_(std::move(weights)) {}

  const IntegerScheme& scheme() const { return weights_->scheme; }
  Orientation orientation() const { return orientation_; }
  const std::string& original_name() const { return original_.initializer->name; }

  std::string values() const;       ///< in the layout of the original
  std::string scales() const;       ///< [outputs], or a scalar
  std::string row_scales() const;   ///< the same as [outputs, 1], or a scalar
  std::string zero_points() const;  ///< of the values' type, in the shape of `scales`
  std::string zero_point() const;   ///< the same as a scalar
  /// Scalars that belong to the weight, named by their suffix.
  std::string add_real(const char* suffix, float value) const;
  /// An int64 [1].
  std::string add_axis(const char* suffix, std::int64_t axis) const;
  std::string add_byte(const char* suffix, std::uint8_t value) const;
  std::string real_zero_point() const;  ///< the same as an F32 scalar

 private:
  std::string add(const char* suffix, tensor::DType dtype, tensor::Shape shape,
                  decltype(graph::Initializer::data) data) const;
  tensor::DType dtype() const;

  FoundInitializer original_;
  Orientation orientation_;
  std::shared_ptr<const IntegerWeights> weights_;
};

/// A graph on the way to one with rounded weights.
struct IntegerDraft {
  std::vector<graph::Node> nodes;
  /// Activations that were rounded, by name, with the prefix of the names of what came out.
  std::map<std::string, std::string, std::less<>> rounded;

  /// Appends a node of ai.onnx with one output of the node's own name; returns it.
  std::string append(const char* op_type, const std::string& name, std::vector<std::string> inputs,
                     std::vector<std::pair<std::string, graph::AttributeValue>> attributes = {});
};

/// A product of activations [..., inputs] and a weight.
struct IntegerProduct {
  std::string input;
  PlacedWeight weight;
  std::string bias;  ///< of a Gemm; empty: none
  std::string name;  ///< unique: a prefix of the names of nodes

  /// Name of the values as [inputs, outputs]. Those that lie as [outputs, inputs], because rows are
  /// picked from them too, are transposed by a node: runtimes fold it into a constant once.
  std::string columns(IntegerDraft& draft) const;

  /// A product's fp32 result with the bias, if there is one, added by a node.
  std::string with_bias(const std::string& result, IntegerDraft& draft) const;
};

/// Appends the nodes of a product to the draft; returns the name of the fp32 result
/// [..., outputs], bias included.
using WriteProduct = std::function<std::string(const IntegerProduct&, IntegerDraft&)>;

/// Rewrites any graph, branches included: weights of products and tables of token embeddings
/// (`weight_use`) become 8-bit matrices. Rows that are picked are turned back into fp32, products
/// become what `write_product` makes of them. Names of values that remain stay. Throws `Error` as
/// `IntegerWeightStore::get`.
graph::Model rewrite_with_integers(const graph::Model& model, IntegerWeightStore& store,
                                   const KeepFloat& keep_float, const WriteProduct& write_product);

}  // namespace sampan::quantize
