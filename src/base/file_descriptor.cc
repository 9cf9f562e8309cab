#include "base/file_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fail.h"
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
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) fail_with_errno(errno, "cannot open", path);
  return file;
}

int FileDescriptor::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor < 0) return 0;
  return ::close(descriptor) == 0 ? 0 : errno;
}

std::size_t regular_file_size(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(errno, "cannot inspect", path);
  if (!S_ISREG(status.st_mode))
    fail(ErrorCode::kInvalidData, "{}: is not a regular file; put the file itself there",
         path.string());
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace sampan::base
