#pragma once

#include <string>
#include <vector>

#include "graph/model.h"

namespace sampan::graph {

/// Every way in which a model is not well formed, one sentence each; empty for a good one:
/// every value is made once, before it is used, and no branch hides a value of the graph around it;
/// names of nodes and of a node's attributes are unique; outputs are made in their own graph; each
/// operator's domain is imported; initializers have the size of their shape, and those in other
/// files stay in the model's folder. Which operators exist is the runtime's to know.
std::vector<std::string> find_faults(const Model& model);

/// Throws `Error` kInvalidData with the first fault and the number of others.
void check_model(const Model& model);

}  // namespace sampan::graph
