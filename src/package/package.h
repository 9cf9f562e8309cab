#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sampan::package {

/// The graphs of a package, by their part in decoding.
enum class GraphRole { kEncoder, kDecoder, kDecoderWithPast, kDecoderMerged };

/// A translation package that was found, read and checked: ours (with `sampan.json`) or one that
/// optimum wrote. Paths are absolute and lie inside the folder.
struct Package {
  std::filesystem::path folder;
  std::string model_type;  ///< config.json's
  /// At least kEncoder and either kDecoderMerged or kDecoder with kDecoderWithPast.
  std::map<GraphRole, std::filesystem::path> graphs;
  /// Most positions of a source or target, config.json's max_position_embeddings.
  std::int64_t max_positions = 0;
  std::int64_t pad_token_id = 0;
  /// Content of config.json and generation_config.json ("{}" if the latter is absent).
  std::string config_json;
  std::string generation_config_json;
  /// Whether sampan.json was there.
  bool has_manifest = false;
};

/// Opens a package. Throws `Error`: kNotFound; kInvalidData (damaged manifest, a file whose size is
/// not the manifest's, a path that leaves the folder); kIncompatible (a newer format; a runtime
/// older than `runtime_version`, e.g. "1.30.0", is refused by the least version the manifest names).
Package open_package(const std::filesystem::path& folder, const std::string& runtime_version);

}  // namespace sampan::package
