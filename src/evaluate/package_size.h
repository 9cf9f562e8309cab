#pragma once

#include <cstdint>
#include <filesystem>

namespace sampan::evaluate {

/// Bytes of a package on disk.
struct PackageSize {
  std::uintmax_t folder_bytes = 0;  ///< every file of the folder
  std::uintmax_t model_bytes = 0;   ///< graphs and their weights: files with ".onnx" in their name
};

/// Throws `Error` kNotFound for a folder that cannot be listed.
PackageSize package_size(const std::filesystem::path& folder);

}  // namespace sampan::evaluate
