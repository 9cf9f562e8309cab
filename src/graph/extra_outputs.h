#pragma once

#include <span>
#include <string>

namespace sampan::graph {

/// Bytes that make inner values of a model outputs too when they follow the model's own in memory:
/// a message of protobuf that ends twice has the fields of both. The model need not be read for
/// it, so that this works for any. The names must be values of the model's outermost graph that are
/// not outputs already; a runtime finds out their types itself.
std::string extra_outputs(std::span<const std::string> names);

}  // namespace sampan::graph
