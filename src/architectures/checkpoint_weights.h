#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint.h"
#include "graph/model.h"

namespace sampan::architectures {

/// y = x * weight + bias.
struct LinearWeights {
  graph::Initializer weight;  ///< [in, out]
  graph::Initializer bias;    ///< [out]
};

struct LayerNormWeights {
  graph::Initializer scale;  ///< [d_model]
  graph::Initializer bias;   ///< [d_model]
};

/// Takes the tensors of a checkpoint as fp32 initializers that refer to it: nothing is converted or
/// transposed before the initializer is written. Each is checked against the shape that config.json
/// asks for. Every member but `has` throws `Error` kInvalidData naming the tensor: missing, of
/// another shape, or neither F32, F16 nor BF16. Taking a tensor twice gives the same initializer.
class CheckpointWeights {
 public:
  /// The checkpoint must outlive this and all initializers.
  explicit CheckpointWeights(const checkpoint::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  bool has(std::string_view name) const { return checkpoint_.weights.find(name) != nullptr; }

  /// A tensor as it is stored, under its own name.
  graph::Initializer take(const std::string& name, const tensor::Shape& shape);
  /// The one tensor that is stored under some of these names; the first that is there gives the
  /// name. The copies must be equal byte for byte.
  graph::Initializer take_shared(std::initializer_list<std::string> names,
                                 const tensor::Shape& shape);
  /// `prefix`.weight [out, in], transposed for MatMul and named `prefix`.weight.transposed, with
  /// `prefix`.bias.
  LinearWeights take_linear(const std::string& prefix, std::int64_t in, std::int64_t out);
  LayerNormWeights take_layer_norm(const std::string& prefix, std::int64_t width);

  /// Throws `Error` kInvalidData when the checkpoint holds tensors that nobody took: it is of
  /// another size or kind than config.json says.
  void refuse_unused() const;

 private:
  const tensor::TensorView& checked(const std::string& name, const tensor::Shape& shape);

  const checkpoint::Checkpoint& checkpoint_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace sampan::architectures
