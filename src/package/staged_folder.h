#pragma once

#include <filesystem>
#include <string>

#include "base/file_descriptor.h"

namespace sampan::package {

/// A folder that is made under a temporary name beside its target and takes the target's place
/// whole, or not at all: `.NAME.tmp-PROCESS-RANDOM/content`, renamed by `publish`. Whatever ends
/// before that leaves the target as it was; the destructor removes the temporary folder, and after
/// a crash the next staged folder of the same target does (a lock that dies with its process tells
/// them apart). Not thread-safe; any number of processes may stage the same target at once, and the
/// whole content of one of them ends there.
class StagedFolder {
 public:
  /// `marker` is the name of the file by which a folder at the target is known to be of the kind
  /// that may be replaced; empty: nothing may be. Throws `Error`: kAlreadyExists for a target that
  /// may not be replaced; kNotFound (the target's parent), kPermissionDenied, kResourceExhausted,
  /// kInvalidArgument (a target that has no name).
  StagedFolder(const std::filesystem::path& target, std::string marker);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  /// Where the content is written until `publish`.
  const std::filesystem::path& content() const noexcept { return content_; }
  /// Absolute path of the target.
  const std::filesystem::path& target() const noexcept { return target_; }

  /// Waits until the disk has every folder of the content (whoever writes the files waits for
  /// those), and puts the content at the target. Throws `Error` as the constructor does: the target
  /// may have changed meanwhile.
  void publish();

 private:
  void create();
  bool try_to_create();
  void put_in_place();
  bool replace();
  bool replace_in_two_steps();

  std::filesystem::path target_;
  std::string marker_;
  std::filesystem::path staging_;
  std::filesystem::path content_;
  base::FileDescriptor lock_;
};

}  // namespace sampan::package
