#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/system_error.h"

namespace sampan::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kReadBytes = 64 * 1024;

}  // namespace

LineReader::LineReader(std::vector<std::filesystem::path> files, const Interrupt& interrupt)
    : files_(std::move(files)), interrupt_(interrupt) {
  if (files_.empty()) files_.emplace_back("-");
}

LineReader::Status LineReader::next(InputLine& line, bool may_wait) {
  while (true) {
    if (rest_ && !at_start_ && !pending().empty()) {
      take_rest(line, "\n");
      return Status::kLine;
    }
    if (!rest_ && !at_start_ && take_line(line)) return Status::kLine;
    const Status status = fill(may_wait);
    if (status == Status::kEnd && rest_) {
      take_rest(line, "");
      return Status::kLine;
    }
    if (status != Status::kLine) return status;
  }
}

bool LineReader::take_line(InputLine& line) {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return false;
  }
  const bool carriage_return = end > begin_ && buffer_[end - 1] == '\r';
  line.text.assign(buffer_, begin_, end - begin_ - (carriage_return ? 1 : 0));
  line.ending = carriage_return ? "\r\n" : "\n";
  begin_ = searched_ = end + 1;
  return true;
}

void LineReader::take_rest(InputLine& line, std::string_view ending) {
  line.text = std::move(*rest_);
  line.ending = ending;
  rest_.reset();
}

// Reads more: kLine when bytes or another file's end came, so that it is worth looking again.
LineReader::Status LineReader::fill(bool may_wait) {
  if (descriptor_ < 0) {
    if (next_file_ == files_.size()) return Status::kEnd;
    open_next();
  }
  if (may_wait)
    interrupt_.wait(descriptor_, POLLIN);
  else if (!Interrupt::ready(descriptor_, POLLIN))
    return Status::kNotReady;

  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReadBytes);
  const ssize_t count = ::read(descriptor_, buffer_.data() + old_size, kReadBytes);
  const int error = errno;
  buffer_.resize(old_size + (count > 0 ? static_cast<std::size_t>(count) : 0));
  if (count < 0 && error != EINTR && error != EAGAIN)
    base::fail_with_errno(error, "cannot read",
                          opened_.is_open() ? files_[next_file_ - 1] : "standard input");
  if (count == 0) end_file();
  if (count > 0) pass_byte_order_mark();
  return Status::kLine;
}

void LineReader::open_next() {
  const std::filesystem::path& path = files_[next_file_++];
  at_start_ = true;
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
    return;
  }
  opened_ = base::FileDescriptor::open_for_reading(path);
  descriptor_ = opened_.get();
}

void LineReader::end_file() {
  if (at_start_ && !pending().empty()) {
    at_start_ =
        false;  // the start of a mark and no more: a line like any other; the end comes again
    return;
  }
  opened_.close();
  descriptor_ = -1;
  at_start_ = false;
  if (!pending().empty()) rest_ = std::string(pending());
  buffer_.clear();
  begin_ = searched_ = 0;
}

// Two bytes of a mark may come before the third: nothing of the file is given before that is known.
void LineReader::pass_byte_order_mark() {
  if (!at_start_) return;
  const bool may_become_one =
      pending().size() < kByteOrderMark.size() && kByteOrderMark.starts_with(pending());
  if (may_become_one) return;
  at_start_ = false;
  if (pending().starts_with(kByteOrderMark)) begin_ = searched_ = kByteOrderMark.size();
}

}  // namespace sampan::cli
