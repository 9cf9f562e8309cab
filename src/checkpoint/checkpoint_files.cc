#include "checkpoint/checkpoint_files.h"

#include <system_error>
#include <utility>

#include "base/fail.h"
#include "base/printable.h"
#include "base/system_error.h"

namespace sampan::checkpoint {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error) base::fail_with_errno(error.value(), "cannot open", path);
  return real;
}

// models--NAME/snapshots/REVISION -> models--NAME/blobs
fs::path hub_blobs(const fs::path& real_folder) {
  const fs::path snapshots = real_folder.parent_path();
  const fs::path repository = snapshots.parent_path();
  if (snapshots.filename() != "snapshots" ||
      !repository.filename().string().starts_with("models--"))
    return {};
  return repository / "blobs";
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

}  // namespace

CheckpointFiles::CheckpointFiles(fs::path folder)
    : folder_(std::move(folder)), real_folder_(real_path(folder_)) {
  std::error_code error;
  if (!fs::is_directory(real_folder_, error))
    base::fail(ErrorCode::kInvalidData,
               "{}: is not a folder; give the folder that holds the "
               "checkpoint's config.json and weights",
               folder_.string());
  real_blobs_ = hub_blobs(real_folder_);
}

bool CheckpointFiles::has(std::string_view name) const {
  std::error_code error;
  return fs::symlink_status(folder_ / name, error).type() != fs::file_type::not_found;
}

void CheckpointFiles::check_name(std::string_view name, const fs::path& source) {
  if (!is_plain_name(name))
    base::fail(ErrorCode::kInvalidData,
               "{}: names the file '{}', which leads out of the folder; download the checkpoint "
               "again",
               source.string(), base::printable(name));
}

fs::path CheckpointFiles::resolve(std::string_view name) const {
  check_name(name, folder_);
  const fs::path real = real_path(folder_ / name);
  const fs::path parent = real.parent_path();
  if (parent != real_folder_ && (real_blobs_.empty() || parent != real_blobs_))
    base::fail(ErrorCode::kInvalidData,
               "{}: is a link to {}, out of the checkpoint's folder; copy "
               "the file into the folder",
               shown(name).string(), real.string());
  std::error_code error;
  if (!fs::is_regular_file(real, error))
    base::fail(ErrorCode::kInvalidData, "{}: is not a regular file; download the checkpoint again",
               shown(name).string());
  return real;
}

}  // namespace sampan::checkpoint
