#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace sampan::base {

/// A new file, written from front to back through a buffer. Not thread-safe.
///
/// The file must not exist yet, not even as a symbolic link. It is durable once `close` returned;
/// an object that is destroyed before leaves what was written so far to whoever owns the folder.
/// Every member throws `Error`: kAlreadyExists, kNotFound (the folder), kPermissionDenied (also a
/// read-only disk), kResourceExhausted (no space, or a limit on the size of files).
class OutputFile {
 public:
  /// `shown_as` names the file in error messages, where `path` is a temporary name of it.
  explicit OutputFile(const std::filesystem::path& path,
                      const std::filesystem::path& shown_as = {});

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Bytes given to `write` so far.
  std::uint64_t size() const noexcept { return size_; }
  /// Writes what is buffered, waits until the disk has it, and closes the file.
  void close();

 private:
  void flush();
  void write_through(std::span<const std::byte> bytes);

  std::filesystem::path shown_as_;
  FileDescriptor file_;
  std::vector<std::byte> buffer_;
  std::uint64_t size_ = 0;
};

/// Gives a file this content, in place of an earlier one if there is one, complete or not at all.
/// Throws `Error` as `OutputFile` does, and kInvalidArgument for a folder of this name.
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Waits until the disk has a folder's entries (its new, renamed and removed files).
void sync_folder(const std::filesystem::path& folder);

}  // namespace sampan::base
