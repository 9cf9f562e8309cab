#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/model.h"
#include "quantize/block_weights.h"

/// Nodes of ONNX Runtime's domain com.microsoft that read matrices in blocks.
namespace sampan::quantize {

inline constexpr const char* kMicrosoftDomain = "com.microsoft";

/// A node and the initializers that it reads beside its activations. They borrow the weights, which
/// they keep alive: a data file stores one matrix once, whatever reads it.
struct BlockOperator {
  graph::Node node;
  std::vector<graph::Initializer> initializers;
};

/// Names of a node under construction.
struct BlockOperatorNames {
  std::string node;
  std::string weight;  ///< prefix of the initializers
  std::string input;
  std::string output;
};

/// MatMulNBits: [..., columns] times the rows of the matrix -> [..., rows]. Activations are rounded
/// to 8 bits per row and block (accuracy level 4), so that a row does not depend on its neighbours.
/// A bias [rows] can follow as input number 5.
BlockOperator block_product(const BlockOperatorNames& names,
                            const std::shared_ptr<const BlockWeights>& weights);

/// GatherBlockQuantized: ids [...] -> rows of the matrix [..., columns], in fp32.
BlockOperator block_gather(const BlockOperatorNames& names,
                           const std::shared_ptr<const BlockWeights>& weights);

/// Declares the domain to a model that uses it.
void import_microsoft_domain(graph::Model& model);

/// The release of ONNX Runtime that knows both operators for 8 and 4 bits.
inline constexpr const char* kBlockOperatorsRuntime = "1.23.0";

}  // namespace sampan::quantize
