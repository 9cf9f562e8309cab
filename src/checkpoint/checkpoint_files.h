#pragma once

#include <filesystem>
#include <string_view>

namespace sampan::checkpoint {

/// The files of a checkpoint folder, found by name and kept inside it as `base::contained_path`
/// does.
class CheckpointFiles {
 public:
  /// Throws `Error`: kNotFound or kInvalidData when `folder` is not a folder.
  explicit CheckpointFiles(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  bool has(std::string_view name) const;

  /// Throws `Error` kInvalidData, naming `source`, for a name with a path in it.
  static void check_name(std::string_view name, const std::filesystem::path& source);
  /// `folder / name`, to open. Throws `Error` kInvalidData for a name with a path in it and for a
  /// link that leaves the folder.
  std::filesystem::path resolve(std::string_view name) const;
  /// `folder / name`, for messages.
  std::filesystem::path shown(std::string_view name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace sampan::checkpoint
