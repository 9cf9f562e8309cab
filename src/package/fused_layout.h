#pragma once

#include <string>
#include <string_view>

/// The contract of packages made for ONNX Runtime's CPU kernels: what writes them and what runs
/// them agree on these names; docs/package-format.md tells shapes and meanings.
namespace sampan::package {

/// The manifest's `layout` of such a package.
inline constexpr std::string_view kFusedLayout = "ort-cpu";

namespace fused {

inline constexpr const char* kInputIds = "input_ids";
inline constexpr const char* kPositions = "positions";
inline constexpr const char* kSourceLengths = "source_lengths";
inline constexpr const char* kCrossAttention = "cross_attention";
inline constexpr const char* kLastHiddenState = "last_hidden_state";
inline constexpr const char* kRowShape = "row_shape";
inline constexpr const char* kQueryShape = "query_shape";
inline constexpr const char* kLastPositions = "last_positions";
inline constexpr const char* kTotalLength = "total_length";
inline constexpr const char* kLogits = "logits";

/// Keys of a layer come before its values wherever the two stand in a row.
inline constexpr const char* kParts[] = {"key", "value"};

/// "past.0.key": `part` is one of `kParts`.
inline std::string layer_tensor(std::string_view kind, std::size_t layer, std::string_view part) {
  std::string name(kind);
  return name.append(".").append(std::to_string(layer)).append(".").append(part);
}
inline constexpr const char* kPast = "past";
inline constexpr const char* kPresent = "present";
inline constexpr const char* kCross = "cross";

}  // namespace fused
}  // namespace sampan::package
