#include "package/file_entry.h"

#include <utility>

#include "base/sha256.h"

namespace sampan::package {

FileEntry describe_file(const std::filesystem::path& folder, std::string path) {
  const base::FileDigest digest = base::sha256_of_file(folder / path);
  return {std::move(path), digest.size, digest.sha256};
}

}  // namespace sampan::package
