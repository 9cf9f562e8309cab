#include "cli/line_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/fail.h"
#include "base/system_error.h"
#include "cli/command.h"

namespace sampan::cli {
namespace {

// A pipe that poll() calls writable takes this much without making the writer wait.
constexpr std::size_t kPipeBytes = 4096;

bool is_regular_file(int descriptor) {
  struct stat status = {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// open() would wait for the reader of a named pipe without hearing a signal or the deadline.
base::FileDescriptor open_for_writing(const std::filesystem::path& path,
                                      const Interrupt& interrupt) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  const bool may_lack_reader = std::filesystem::is_fifo(base::status_of(path));
  while (true) {
    base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (file.is_open()) return file;
    if (errno != ENXIO || !may_lack_reader) base::fail_with_errno(errno, "cannot open", path);
    interrupt.pause(kBetweenLooks);
  }
}

}  // namespace

void write_fully(int descriptor, std::string_view bytes, const std::filesystem::path& shown_as,
                 const Interrupt& interrupt) {
  const std::size_t most = is_regular_file(descriptor) ? bytes.size() : kPipeBytes;
  while (!bytes.empty()) {
    if (!Interrupt::ready(descriptor, POLLOUT)) interrupt.wait(descriptor, POLLOUT);
    const ssize_t count = ::write(descriptor, bytes.data(), std::min(most, bytes.size()));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0 && errno == EPIPE) throw ClosedPipe{};
    if (count < 0) base::fail_with_errno(errno, "cannot write", shown_as);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

StreamOutput::StreamOutput(const Interrupt& interrupt)
    : descriptor_(STDOUT_FILENO), shown_as_("standard output"), interrupt_(interrupt) {}

StreamOutput::StreamOutput(base::FileDescriptor file, std::filesystem::path path,
                           const Interrupt& interrupt)
    : file_(std::move(file)),
      descriptor_(file_.get()),
      shown_as_(std::move(path)),
      interrupt_(interrupt) {}

void StreamOutput::write(const OutputBlock& block) {
  write_fully(descriptor_, block.bytes, shown_as_, interrupt_);
}

// Some file systems (network, quota) tell only at a close that there is no space; closing a copy
// leaves standard output open.
void StreamOutput::finish() {
  base::FileDescriptor copy(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
  const int error = copy.is_open() ? copy.close() : errno;
  if (error != 0) base::fail_with_errno(error, "cannot finish", shown_as_);
}

std::unique_ptr<LineOutput> open_special_output(const std::filesystem::path& path, bool resume,
                                                const Interrupt& interrupt) {
  if (resume)
    base::fail(ErrorCode::kInvalidArgument,
               "{}: is not a regular file, so it cannot be resumed; leave --resume out",
               path.string());
  return std::make_unique<StreamOutput>(open_for_writing(path, interrupt), path, interrupt);
}

}  // namespace sampan::cli
