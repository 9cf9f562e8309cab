#pragma once

#include <filesystem>
#include <map>
#include <string_view>

#include "package/manifest.h"

namespace sampan::package {

/// optimum's file name of a graph: "decoder_model_merged.onnx".
std::string_view graph_file_name(GraphRole role) noexcept;

/// The graphs of a package without a manifest. Each part is taken by its file name from the folder,
/// else from `onnx/`; else it is the one file whose name fits as optimum's loader reads names:
/// it contains "encoder", or "decoder" with neither "with_past" nor "merged", or with one of them.
/// Parts that are not there are left out. Throws `Error`: kInvalidData when several files fit, or a
/// link leaves the folder.
std::map<GraphRole, std::filesystem::path> find_graphs(const std::filesystem::path& folder);

}  // namespace sampan::package
