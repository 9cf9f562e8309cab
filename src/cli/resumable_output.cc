#include "cli/resumable_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "base/fail.h"
#include "base/output_file.h"
#include "base/system_error.h"

namespace sampan::cli {
namespace {

constexpr std::chrono::seconds kCheckpointInterval{1};

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) {
  path += suffix;
  return path;
}

// A symbolic link stays one: the file that it leads to is replaced.
std::filesystem::path behind_links(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
  return error ? file : real;
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void lock(const base::FileDescriptor& file, const std::filesystem::path& path) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    base::fail(ErrorCode::kAlreadyExists, "{}: another run is writing it; wait for its end",
               path.string());
}

// Of a run that goes on, nobody should hear that its file may be removed.
[[noreturn]] void fail_as_left(const std::filesystem::path& partial) {
  lock(base::FileDescriptor::open_for_reading(partial), partial);
  base::fail(ErrorCode::kAlreadyExists,
             "{}: an interrupted run left it; continue with --resume, or remove it to start again",
             partial.string());
}

void check_same(const RunSettings& before, const RunSettings& now,
                const std::filesystem::path& partial) {
  for (const auto& [name, value] : now) {
    const auto found = before.find(name);
    const std::string old_value = found == before.end() ? "unknown" : found->second;
    if (old_value != value)
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: was made with {} {}, not {}; resume with the same package and options, or "
                 "remove it to start again",
                 partial.string(), name, old_value, value);
  }
}

}  // namespace

ResumableOutput::ResumableOutput(const std::filesystem::path& file, const RunSettings& settings,
                                 bool resume, const Interrupt& interrupt)
    : file_(behind_links(file)),
      partial_(with_suffix(file_, ".partial")),
      journal_path_(with_suffix(partial_, ".journal")),
      interrupt_(interrupt),
      last_checkpoint_(std::chrono::steady_clock::now()) {
  if (resume && std::filesystem::exists(base::status_of(partial_)))
    this->resume(settings);
  else
    start(settings);
}

void ResumableOutput::start(const RunSettings& settings) {
  descriptor_ = base::FileDescriptor(
      ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor_.is_open() && errno == EEXIST) fail_as_left(partial_);
  if (!descriptor_.is_open()) base::fail_with_errno(errno, "cannot create", partial_);
  lock(descriptor_, partial_);
  try {
    journal_ = ResumeJournal::create(journal_path_, settings);
  } catch (...) {
    ::unlink(partial_.c_str());
    throw;
  }
}

void ResumableOutput::resume(const RunSettings& settings) {
  descriptor_ =
      base::FileDescriptor(::open(partial_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor_.is_open()) base::fail_with_errno(errno, "cannot open", partial_);
  lock(descriptor_, partial_);
  ResumeJournal journal = ResumeJournal::open(journal_path_);
  check_same(journal.settings(), settings, partial_);

  // After a crash of the system the journal may know more than the disk kept of the output.
  const std::uint64_t size = base::regular_file_size(descriptor_, partial_);
  std::size_t good = journal.checkpoints().size();
  while (good > 0 && journal.checkpoints()[good - 1].bytes > size) --good;
  journal.keep(good);
  since_.bytes = good == 0 ? 0 : journal.checkpoints().back().bytes;
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(since_.bytes)) != 0)
    base::fail_with_errno(errno, "cannot shorten", partial_);
  journal_ = std::move(journal);
}

std::size_t ResumableOutput::skip_done_lines(LineReader& reader) {
  std::size_t skipped = 0;
  for (const Checkpoint& done : journal_->checkpoints()) {
    base::Sha256 read;
    InputLine line;
    for (std::size_t i = 0; i < done.lines; ++i) {
      if (reader.next(line, true) == LineReader::Status::kEnd)
        base::fail(ErrorCode::kInvalidArgument,
                   "{}: the input ends at line {}, before the place to resume at; give the same "
                   "input, or remove it to start again",
                   partial_.string(), skipped + i);
      read.update(as_bytes(line.text));
      read.update(as_bytes("\n"));
    }
    if (read.finish() != done.source_sha256)
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: the input is not the same between lines {} and {}; give the same input, or "
                 "remove it to start again",
                 partial_.string(), skipped + 1, skipped + done.lines);
    skipped += done.lines;
  }
  return skipped;
}

void ResumableOutput::write(const OutputBlock& block) {
  write_fully(descriptor_.get(), block.bytes, partial_, interrupt_);
  since_.bytes += block.bytes.size();
  since_.lines += block.lines;
  source_.update(as_bytes(block.source));
  if (std::chrono::steady_clock::now() - last_checkpoint_ >= kCheckpointInterval) checkpoint();
}

void ResumableOutput::checkpoint() {
  if (since_.lines == 0) return;
  if (::fdatasync(descriptor_.get()) != 0) base::fail_with_errno(errno, "cannot write", partial_);
  since_.source_sha256 = std::exchange(source_, base::Sha256()).finish();
  journal_->append(since_);
  since_.lines = 0;
  last_checkpoint_ = std::chrono::steady_clock::now();
}

void ResumableOutput::finish() {
  if (::fsync(descriptor_.get()) != 0) base::fail_with_errno(errno, "cannot write", partial_);
  if (::rename(partial_.c_str(), file_.c_str()) != 0)
    base::fail_with_errno(errno, "cannot replace", file_);
  finished_ = true;
  std::error_code ignored;  // a journal without its output misleads nobody
  std::filesystem::remove(journal_path_, ignored);
  base::sync_folder(file_.has_parent_path() ? file_.parent_path() : ".");
}

ResumableOutput::~ResumableOutput() {
  if (finished_ || !journal_) return;
  try {
    checkpoint();
    if (journal_->checkpoints().empty()) {
      std::filesystem::remove(partial_);
      std::filesystem::remove(journal_path_);
    }
  } catch (const std::exception&) {
    // The last checkpoint stands: a later run does a little again.
  }
}

}  // namespace sampan::cli
