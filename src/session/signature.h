#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::session {

/// One input or output that a graph declares.
struct ValueSignature {
  std::string name;
  std::string dtype;                   ///< "float32", "int64", "bool", or another type's name
  std::vector<std::int64_t> dims;      ///< -1 where the axis is named, not numbered
  std::vector<std::string> axes = {};  ///< names of the axes; empty where numbered or unknown
};

/// What a loaded graph says of itself; `file` is its path, for messages.
struct GraphSignature {
  std::string file;
  std::vector<ValueSignature> inputs;
  std::vector<ValueSignature> outputs;

  /// Null if there is none of this name.
  const ValueSignature* input(std::string_view name) const;
  const ValueSignature* output(std::string_view name) const;
};

/// "float32 [?, 8, ?, 64]".
std::string to_string(const ValueSignature& value);

/// Demands of a value, for the checks below. In `dims`, kNamed is an axis that must take any size,
/// kAny one whose size does not matter, and another number is that size.
struct ValueDemand {
  static constexpr std::int64_t kNamed = -1;
  static constexpr std::int64_t kAny = -2;
  std::string_view dtype;
  std::vector<std::int64_t> dims;
};

/// The value of that name. Throws kInvalidData, naming file, value and demand, if the graph lacks
/// it or declares something else.
const ValueSignature& require_input(const GraphSignature& graph, std::string_view name,
                                    const ValueDemand& demand);
const ValueSignature& require_output(const GraphSignature& graph, std::string_view name,
                                     const ValueDemand& demand);

}  // namespace sampan::session
