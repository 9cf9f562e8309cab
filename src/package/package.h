#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/manifest.h"

namespace sampan::package {

/// A translation package that was found, read and checked: ours (with `sampan.json`) or one that
/// optimum wrote. Paths are absolute and lie inside the folder.
struct Package {
  std::filesystem::path folder;
  std::string model_type;  ///< config.json's
  /// The manifest's layout; empty without a manifest.
  std::string layout;
  /// At least kEncoder and either kDecoderMerged or kDecoder with kDecoderWithPast; kEncoder and
  /// kDecoder in the layout `kFusedLayout` (package/fused_layout.h).
  std::map<GraphRole, std::filesystem::path> graphs;
  /// Most positions of a source or target, config.json's max_position_embeddings; 0 where it names
  /// none.
  std::int64_t max_positions = 0;
  std::int64_t pad_token_id = 0;
  /// Content of config.json and generation_config.json ("{}" if the latter is absent).
  std::string config_json;
  std::string generation_config_json;
  /// Whether sampan.json was there.
  bool has_manifest = false;
};

/// The manifest of a package folder, or nothing where there is none. Throws as `parse_manifest`.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

/// Whether the runtime's version is at least the one that a package asks for ("1.23.0"); what
/// cannot be read of a version counts as 0.
bool runtime_suffices(std::string_view runtime_version, std::string_view least_version);

/// Opens a package. Where there is no manifest, the graphs are looked for in the folder and in
/// `onnx/`, by optimum's names or, failing these, by names that contain them
/// ("encoder_model_quantized.onnx").
/// With a manifest, every file must have the size that it says; contents are not read
/// (`verify_files` does that). Data files that the graphs name are the runtime's to check.
/// Throws `Error`: kNotFound; kInvalidData (damaged manifest or config.json, a file whose size is
/// not the manifest's, a path that leaves the folder, several graphs for one part); kIncompatible
/// (a newer format; a runtime older than `runtime_version`, e.g. "1.30.0", is refused by the least
/// version the manifest names).
Package open_package(const std::filesystem::path& folder, const std::string& runtime_version);

/// Reads every file of a package with a manifest and compares its SHA-256. Throws `Error`:
/// kNotFound (folder or manifest), kInvalidData (naming the first file that is missing or differs).
void verify_files(const std::filesystem::path& folder);

}  // namespace sampan::package
