#include "checkpoint/checkpoint_files.h"

#include <system_error>
#include <utility>

#include "base/contained_path.h"
#include "base/fail.h"
#include "base/printable.h"
#include "base/system_error.h"

namespace sampan::checkpoint {
namespace {

namespace fs = std::filesystem;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

}  // namespace

CheckpointFiles::CheckpointFiles(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  const fs::file_status status = fs::status(folder_, error);
  if (error) base::fail_with_errno(error.value(), "cannot open", folder_);
  if (!fs::is_directory(status))
    base::fail(ErrorCode::kInvalidData,
               "{}: is not a folder; give the folder that holds the "
               "checkpoint's config.json and weights",
               folder_.string());
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
  return base::contained_path(folder_, name, folder_);
}

}  // namespace sampan::checkpoint
