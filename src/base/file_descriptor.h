#pragma once

#include <cstddef>
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

  /// Opens a file or folder for reading; never waits for the other end of a pipe. Throws `Error` as
  /// `fail_with_errno` does.
  static FileDescriptor open_for_reading(const std::filesystem::path& path);

  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Closes it now; the value of `errno`, or 0.
  int close() noexcept;

 private:
  int descriptor_ = -1;
};

/// Bytes of an open file. Throws `Error` kInvalidData for a folder, pipe or device; `path` names
/// it.
std::size_t regular_file_size(const FileDescriptor& file, const std::filesystem::path& path);

}  // namespace sampan::base
