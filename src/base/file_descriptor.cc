#include "base/file_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/system_error.h"

namespace sampan::base {

FileDescriptor::~FileDescriptor() { close(); }

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileDescriptor FileDescriptor::open_for_reading(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail_with_errno(errno, "cannot open", path);
  return file;
}

int FileDescriptor::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor < 0) return 0;
  return ::close(descriptor) == 0 ? 0 : errno;
}

}  // namespace sampan::base
