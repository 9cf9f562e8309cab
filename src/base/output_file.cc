#include "base/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/fail.h"
#include "base/system_error.h"

namespace sampan::base {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr mode_t kMode = 0666;  // less the process's umask

void sync(const FileDescriptor& file, const std::filesystem::path& shown_as) {
  if (::fsync(file.get()) == 0) return;
  if (errno == EINVAL || errno == ENOTSUP) return;  // the file system has nothing to wait for
  fail_with_errno(errno, "cannot write to the disk", shown_as);
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, const std::filesystem::path& shown_as)
    : shown_as_(shown_as.empty() ? path : shown_as),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode)) {
  if (!file_.is_open()) fail_with_errno(errno, "cannot create", shown_as_);
  buffer_.reserve(kBufferBytes);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() > kBufferBytes)
    write_through(bytes);
  else
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void OutputFile::close() {
  flush();
  sync(file_, shown_as_);
  if (const int error = file_.close(); error != 0)
    fail_with_errno(error, "cannot close", shown_as_);
}

void OutputFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void OutputFile::write_through(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(errno, "cannot write", shown_as_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::file_status status = status_of(path);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail(ErrorCode::kInvalidArgument, "{}: is no file that could be replaced; give another name",
         path.string());
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::filesystem::path staged =
      folder / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  std::error_code ignored;
  std::filesystem::remove(staged, ignored);  // of a process of the same number that was killed
  try {
    OutputFile file(staged, path);
    file.write(content);
    file.close();
    std::error_code error;
    std::filesystem::rename(staged, path, error);
    if (error) fail_with_errno(error.value(), "cannot replace", path);
  } catch (...) {
    std::filesystem::remove(staged, ignored);
    throw;
  }
  sync_folder(folder);
}

void sync_folder(const std::filesystem::path& folder) {
  sync(FileDescriptor::open_for_reading(folder), folder);
}

}  // namespace sampan::base
