#pragma once

#include <filesystem>
#include <string>

#include "checkpoint/checkpoint.h"
#include "reference/transformer.h"

namespace sampan::reference {

/// Takes tensors of a checkpoint by name, as doubles. Every function throws `Error` kInvalidData,
/// naming the tensor, when it is missing or has another shape than asked for.
class Weights {
 public:
  /// `checkpoint` must outlive this object.
  explicit Weights(const checkpoint::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  bool has(const std::string& name) const { return checkpoint_.weights.find(name) != nullptr; }
  /// Extent of a tensor's first axis; 0 for a tensor that is missing or a scalar.
  Index rows(const std::string& name) const;
  Matrix matrix(const std::string& name, Index rows, Index columns) const;
  RowVector vector(const std::string& name, Index size) const;
  Linear linear(const std::string& module, Index out, Index in) const;
  LayerNorm layer_norm(const std::string& module, Index size) const;
  Attention attention(const std::string& module, Index d_model, Index heads) const;

 private:
  const checkpoint::Checkpoint& checkpoint_;
};

}  // namespace sampan::reference
