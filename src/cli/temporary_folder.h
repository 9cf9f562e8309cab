#pragma once

#include <filesystem>
#include <string>

namespace sampan::cli {

/// A new empty folder among the system's temporary files, removed with all that is in it at the
/// end.
class TemporaryFolder {
 public:
  /// `stem` begins its name. Throws `Error` as `fail_with_errno` does.
  explicit TemporaryFolder(const std::string& stem);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sampan::cli
