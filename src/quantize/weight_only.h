#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/model.h"
#include "quantize/scheme.h"
#include "quantize/weight_store.h"

namespace sampan::quantize {

/// Says how a weight of this name is stored; nothing leaves it in fp32. The block shrinks to one
/// that divides the weight's rows.
using SchemeChoice = std::function<std::optional<BlockScheme>(const std::string& name)>;

/// Rewrites any graph, branches included, so that its weights stay in few bits and activations in
/// fp32:
/// - `MatMul` and `Gemm` with a weight become `MatMulNBits` (`block_product`); a bias added behind
///   goes into it.
/// - `Gather` of rows by a graph input (token embeddings) becomes `GatherBlockQuantized`. A table
///   that is also a projection is the same bytes for both, under two shapes.
/// Weights whose rows are not whole blocks, and those for which `choose` says nothing, stay as they
/// are. `model` must have its external data open. `store` holds the rounded weights between the
/// graphs of a package. Throws `Error` as `WeightStore::get`.
graph::Model quantize_weights(const graph::Model& model, WeightStore& store,
                              const SchemeChoice& choose);

/// `quantize_weights` as a scheme.
class WeightOnlyScheme final : public Scheme {
 public:
  /// `record` is what the manifest shall say; `store` may be shared with other schemes that round
  /// the same weights.
  WeightOnlyScheme(SchemeRecord record, std::shared_ptr<WeightStore> store, SchemeChoice choose);

  SchemeRecord record() const override { return record_; }
  graph::Model rewrite(const graph::Model& model, std::string_view graph_file) override;

 private:
  SchemeRecord record_;
  std::shared_ptr<WeightStore> store_;
  SchemeChoice choose_;
};

}  // namespace sampan::quantize
