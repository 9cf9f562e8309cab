#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace sampan::base {

/// A regular file mapped read-only into memory. The bytes live as long as the object; moving it
/// keeps their address. Reading is thread-safe. Throws `Error`: kNotFound, kPermissionDenied,
/// kInvalidData (not a regular file), kResourceExhausted.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

/// The whole of a small file. Throws `Error` as `MappedFile` does, and kResourceExhausted when the
/// file is longer than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace sampan::base
