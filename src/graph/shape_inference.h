#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "graph/model.h"
#include "graph/shape_rules.h"

namespace sampan::graph {

/// What the operators of a model say about its values, held against what the model declares.
struct InferredShapes {
  /// Contradictions, one sentence each: inputs that an operator cannot take, an output that is
  /// declared with another type or shape, an axis that is declared to vary and does not, an
  /// operator, number of inputs or attribute that the declared operator set does not have.
  std::vector<std::string> faults;
  /// Operators and operator sets that are not known, and how many nodes each: what they make was
  /// not inferred.
  std::map<std::string, std::size_t> unknown;
  std::size_t nodes = 0;     ///< of all graphs, branches too
  std::size_t inferred = 0;  ///< nodes whose outputs all have a known type and rank
  /// Every value of the outermost graph and, under their own names, of the branches.
  std::map<std::string, InferredValue, std::less<>> values;
};

/// Infers types and shapes from the inputs' declarations and the constants, through both branches
/// of `If`. Named axes are computed with ("past + 1"). The model must have no faults
/// (graph/checker.h). Weights are not read, but for short vectors of whole numbers.
InferredShapes infer_shapes(const Model& model);

}  // namespace sampan::graph
