#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sampan::evaluate {

/// Calls of an operator or a node, and the time that they took themselves: what the nodes inside an
/// If or a Loop took is theirs.
struct TimeShare {
  std::int64_t calls = 0;
  double seconds = 0.0;
};

/// Where ONNX Runtime says that its time went, summed over its traces.
struct RuntimeProfile {
  double run_seconds = 0.0;  ///< all runs of all graphs; nodes' times lie within
  std::map<std::string, TimeShare> operators;
  std::map<std::pair<std::string, std::string>, TimeShare> nodes;  ///< by graph and node
  /// A trace reached the number of events at which the runtime stops recording.
  bool cut_short = false;
};

/// Adds a trace: JSON, an array of events of Chrome's tracing. `graph` stands for it in `nodes`.
/// Throws `Error` kInvalidData for text that is not such a trace.
void add_trace(std::string_view trace, const std::string& graph, RuntimeProfile& profile);

/// Sums the traces that `LoadOptions::profile_folder` left. Throws as `add_trace`, and kNotFound
/// where there are none.
RuntimeProfile read_profile(const std::filesystem::path& folder);

}  // namespace sampan::evaluate
