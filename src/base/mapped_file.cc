#include "base/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.h"
#include "base/file_descriptor.h"
#include "base/system_error.h"

namespace sampan::base {
MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const FileDescriptor file = FileDescriptor::open_for_reading(path);
  const std::size_t size = regular_file_size(file, path);
  if (size == 0) return;  // mmap refuses length 0; an empty span says the same
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail_with_errno(errno, "cannot map", path);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const FileDescriptor file = FileDescriptor::open_for_reading(path);
  const std::size_t size = regular_file_size(file, path);
  if (size > max_bytes)
    fail(ErrorCode::kResourceExhausted,
         "{}: {} bytes long, more than the {} expected of this kind "
         "of file; check that it is the right one",
         path.string(), size, max_bytes);
  std::string content(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(file.get(), content.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(errno, "cannot read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  content.resize(done);
  return content;
}

}  // namespace sampan::base
