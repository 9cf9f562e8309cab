#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sampan::checkpoint {

/// The files of a checkpoint folder, found by name and kept inside it.
///
/// A name may be a symbolic link only if the file it ends at lies in the folder, or if the folder
/// is a snapshot of a model hub's cache, `models--NAME/snapshots/REVISION`, and the file lies in
/// that cache's `models--NAME/blobs`.
class CheckpointFiles {
 public:
  /// Throws `Error`: kNotFound or kInvalidData when `folder` is not a folder.
  explicit CheckpointFiles(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  bool has(std::string_view name) const;

  /// Throws `Error` kInvalidData, naming `source`, for a name with a path in it.
  static void check_name(std::string_view name, const std::filesystem::path& source);
  /// The path to open for a plain file name. Throws `Error`: kNotFound; kInvalidData for a name
  /// with a path in it, for a link that leaves the folder and for anything but a regular file.
  std::filesystem::path resolve(std::string_view name) const;
  /// The path that messages should name: `folder / name`.
  std::filesystem::path shown(std::string_view name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path real_folder_;
  std::filesystem::path real_blobs_;  // of a hub's cache, or empty
};

}  // namespace sampan::checkpoint
