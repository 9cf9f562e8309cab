#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sampan::package {

/// A file as it was when the manifest was written.
struct FileEntry {
  std::string path;  ///< relative to its folder, with `/` between the parts
  std::uint64_t size = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
};

/// Reads a file of `folder` and says what it is. Throws `Error` as `base::sha256_of_file` does.
FileEntry describe_file(const std::filesystem::path& folder, std::string path);

}  // namespace sampan::package
