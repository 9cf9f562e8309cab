#include "evaluate/package_size.h"

#include <string>
#include <system_error>

#include "base/fail.h"

namespace sampan::evaluate {

PackageSize package_size(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  PackageSize size;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const std::uintmax_t bytes = entry->file_size(ignored);
    if (ignored) continue;
    size.folder_bytes += bytes;
    if (entry->path().filename().string().find(".onnx") != std::string::npos)
      size.model_bytes += bytes;
  }
  if (error)
    base::fail(ErrorCode::kNotFound,
               "{}: the folder cannot be listed ({}); name a package's folder", folder.string(),
               error.message());
  return size;
}

}  // namespace sampan::evaluate
