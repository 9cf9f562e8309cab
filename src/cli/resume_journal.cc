#include "cli/resume_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/system_error.h"

namespace sampan::cli {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

base::FileDescriptor open_to_append(const std::filesystem::path& path, int flags) {
  base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666));
  if (!file.is_open()) base::fail_with_errno(errno, "cannot open", path);
  return file;
}

[[noreturn]] void refuse(const std::filesystem::path& path) {
  base::fail(ErrorCode::kInvalidData,
             "{}: is damaged or of another version; remove it and its output, and start again",
             path.string());
}

}  // namespace

ResumeJournal ResumeJournal::create(const std::filesystem::path& path,
                                    const RunSettings& settings) {
  ResumeJournal journal(path);
  journal.settings_ = settings;
  journal.file_ = open_to_append(path, O_CREAT | O_TRUNC);
  journal.write_line(Json{{"format", kFormat}, {"settings", settings}}.dump());
  return journal;
}

ResumeJournal ResumeJournal::open(const std::filesystem::path& path) {
  ResumeJournal journal(path);
  const std::string content = base::read_file(path, kMostBytes);
  std::string_view rest = content;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
    journal.parse_line(std::string(rest.substr(0, end)));
    rest.remove_prefix(end + 1);
    journal.ends_.push_back(content.size() - rest.size());
  }
  if (journal.ends_.empty()) refuse(path);
  journal.file_ = open_to_append(path, 0);
  journal.keep(journal.checkpoints_.size());
  return journal;
}

void ResumeJournal::parse_line(const std::string& line) {
  try {
    const Json object = Json::parse(line);
    if (ends_.empty()) {
      if (object.at("format") != kFormat) refuse(path_);
      settings_ = object.at("settings").get<RunSettings>();
      return;
    }
    Checkpoint checkpoint{object.at("lines").get<std::size_t>(),
                          object.at("bytes").get<std::uint64_t>(),
                          object.at("source_sha256").get<std::string>()};
    const std::uint64_t before = checkpoints_.empty() ? 0 : checkpoints_.back().bytes;
    if (checkpoint.bytes < before) refuse(path_);
    checkpoints_.push_back(std::move(checkpoint));
  } catch (const Json::exception&) {
    refuse(path_);
  }
}

void ResumeJournal::keep(std::size_t count) {
  checkpoints_.resize(count);
  ends_.resize(count + 1);
  if (::ftruncate(file_.get(), static_cast<off_t>(ends_.back())) != 0)
    base::fail_with_errno(errno, "cannot shorten", path_);
}

void ResumeJournal::append(const Checkpoint& checkpoint) {
  write_line(Json{{"lines", checkpoint.lines},
                  {"bytes", checkpoint.bytes},
                  {"source_sha256", checkpoint.source_sha256}}
                 .dump());
  checkpoints_.push_back(checkpoint);
}

// A line that the disk took in part is taken back, so that the next one does not join it.
void ResumeJournal::write_line(const std::string& line) {
  const std::string whole = line + '\n';
  const std::uint64_t begin = ends_.empty() ? 0 : ends_.back();
  const ssize_t count = ::write(file_.get(), whole.data(), whole.size());
  const bool written = count == static_cast<ssize_t>(whole.size());
  if (!written || ::fdatasync(file_.get()) != 0) {
    const int error = count >= 0 && !written ? ENOSPC : errno;
    if (::ftruncate(file_.get(), static_cast<off_t>(begin)) == 0) ::fdatasync(file_.get());
    base::fail_with_errno(error, "cannot write", path_);
  }
  ends_.push_back(begin + whole.size());
}

}  // namespace sampan::cli
