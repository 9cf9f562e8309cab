#pragma once

#include <filesystem>

namespace sampan::base {

/// An open file descriptor that closes itself. Not thread-safe.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  /// Opens a file or folder for reading. Throws `Error` as `fail_with_errno` does.
  static FileDescriptor open_for_reading(const std::filesystem::path& path);

  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Closes it now; the value of `errno`, or 0.
  int close() noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace sampan::base
