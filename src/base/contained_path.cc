#include "base/contained_path.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/fail.h"
#include "base/system_error.h"

namespace sampan::base {
namespace {

namespace fs = std::filesystem;

bool stays_below(const fs::path& relative) {
  if (relative.empty() || relative.is_absolute()) return false;
  // A NUL would end the name early for the system, but not for us.
  if (relative.native().find('\0') != std::string::npos) return false;
  return std::ranges::none_of(relative, [](const fs::path& part) { return part == ".."; });
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

// models--NAME/snapshots/REVISION consists of links into models--NAME/blobs.
bool lies_in_blobs(const fs::path& path, const fs::path& folder) {
  const fs::path snapshots = folder.parent_path();
  const fs::path cache = snapshots.parent_path();
  return snapshots.filename() == "snapshots" && cache.filename().native().starts_with("models--") &&
         lies_in(path, cache / "blobs");
}

fs::path resolve_links(const fs::path& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(path, error);
  if (error) fail_with_errno(error.value(), "cannot follow the path", path);
  return resolved;
}

}  // namespace

fs::path contained_path(const fs::path& folder, const fs::path& relative,
                        const fs::path& named_by) {
  if (!stays_below(relative))
    fail(ErrorCode::kInvalidData,
         "{}: names '{}', which is not a path inside the folder; do not use "
         "files from this source",
         named_by.string(), relative.string());
  const fs::path root = resolve_links(folder);
  const fs::path resolved = resolve_links(root / relative);
  if (!lies_in(resolved, root) && !lies_in_blobs(resolved, root))
    fail(ErrorCode::kInvalidData,
         "{}: is a symbolic link out of its folder, to {}; put the file "
         "itself there",
         (folder / relative).string(), resolved.string());
  return folder / relative;
}

}  // namespace sampan::base
