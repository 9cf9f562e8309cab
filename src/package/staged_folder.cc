#include "package/staged_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/output_file.h"
#include "base/system_error.h"

namespace sampan::package {
namespace {

namespace fs = std::filesystem;
using base::fail_with_errno;
using base::FileDescriptor;

constexpr std::string_view kLockName = "lock";
constexpr std::string_view kContentName = "content";
constexpr std::string_view kReplacedName = "replaced";
constexpr std::size_t kMostNameBytes = 200;  // of the 255 that file systems allow
constexpr int kRandomDigits = 16;
constexpr int kMostAttempts = 100;

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  fail_with_errno(errno, "cannot inspect", path);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    paths.push_back(entry->path());
  if (error) fail_with_errno(error.value(), "cannot list", folder);
  return paths;
}

fs::path absolute_target(const fs::path& given) {
  fs::path target = base::absolute_path(given).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "package/"
  if (!target.has_filename() || target.filename() == "..")
    base::fail(ErrorCode::kInvalidArgument, "'{}': is not the path of a new folder; give one",
               given.string());
  return target;
}

std::string prefix_of(const fs::path& target) {
  return fmt::format(".{}.tmp-", target.filename().native().substr(0, kMostNameBytes));
}

std::string random_digits() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value))
    fail_with_errno(errno, "cannot read", "/dev/urandom");
  return fmt::format("{:016x}", value);
}

// PREFIX + PROCESS + '-' + RANDOM: a name that this class made.
bool is_staging_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const std::size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos) return false;
  const auto digits = [](std::string_view text, std::string_view allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
  };
  return digits(name.substr(0, dash), "0123456789") && name.size() - dash - 1 == kRandomDigits &&
         digits(name.substr(dash + 1), "0123456789abcdef");
}

// The lock goes last: without it nobody could tell any more that the folder is abandoned.
void remove_staging(const fs::path& staging) noexcept {
  std::error_code ignored;
  fs::remove_all(staging / kContentName, ignored);
  fs::remove_all(staging / kReplacedName, ignored);
  fs::remove(staging / kLockName, ignored);
  fs::remove(staging, ignored);
}

// Removes what a process that died left behind. A folder whose lock is held, or cannot be had, is
// somebody's; one without a lock is removed only if it is empty.
void remove_if_abandoned(const fs::path& staging) {
  struct stat status = {};
  if (::lstat(staging.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid())
    return;
  const FileDescriptor lock(
      ::open((staging / kLockName).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (lock.is_open()) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) remove_staging(staging);
  } else if (errno == ENOENT) {
    ::rmdir(staging.c_str());
  }
}

void remove_abandoned(const fs::path& target) {
  const std::string prefix = prefix_of(target);
  for (const fs::path& path : entries_of(target.parent_path()))
    if (is_staging_name(path.filename().native(), prefix)) remove_if_abandoned(path);
}

[[noreturn]] void fail_as_taken(const fs::path& target, std::string_view what,
                                std::string_view next_step) {
  base::fail(ErrorCode::kAlreadyExists, "{}: {}; {}", target.string(), what, next_step);
}

bool holds_file(const fs::path& folder, const std::string& name) {
  struct stat status = {};
  return ::lstat((folder / name).c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Throws unless the target is free or may be replaced. Returns whether something is there.
bool check_target(const fs::path& target, const std::string& marker) {
  const auto status = status_of(target);
  if (!status) return false;
  if (S_ISLNK(status->st_mode))
    fail_as_taken(target, "is a symbolic link", "give the path of a folder itself");
  if (!S_ISDIR(status->st_mode))
    fail_as_taken(target, "exists and is not a folder", "choose another path");
  if (marker.empty())
    fail_as_taken(target, "exists", "choose another path, or use --force to replace a package");
  if (!holds_file(target, marker))
    fail_as_taken(target, fmt::format("is a folder without {} and will not be replaced", marker),
                  "choose another path");
  return true;
}

[[noreturn]] void fail_as_changed(const fs::path& target) {
  fail_as_taken(target, "changed while its new content was being written",
                "look who else writes there, and try again");
}

bool flags_unsupported(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP; }

int rename_with_flags(const fs::path& from, const fs::path& to, unsigned int flags) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0 ? 0 : errno;
}

int rename_plainly(const fs::path& from, const fs::path& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// A new folder never ends inside or over something: at worst it takes an empty folder's place,
// where the file system cannot refuse even that.
int rename_to_new(const fs::path& from, const fs::path& to) {
  const int error = rename_with_flags(from, to, RENAME_NOREPLACE);
  if (!flags_unsupported(error)) return error;
  return status_of(to) ? EEXIST : rename_plainly(from, to);
}

void sync_folders(const fs::path& folder) {
  for (const fs::path& path : entries_of(folder))
    if (const auto status = status_of(path); status && S_ISDIR(status->st_mode)) sync_folders(path);
  base::sync_folder(folder);
}

}  // namespace

StagedFolder::StagedFolder(const fs::path& target, std::string marker)
    : target_(absolute_target(target)), marker_(std::move(marker)) {
  check_target(target_, marker_);
  remove_abandoned(target_);
  create();
}

StagedFolder::~StagedFolder() { remove_staging(staging_); }

void StagedFolder::create() {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt)
    if (try_to_create()) return;
  base::fail(ErrorCode::kInternal, "{}: cannot keep a temporary folder beside it; try again",
             target_.string());
}

// False when the new folder fell to a process that cleans up, before it could be locked.
bool StagedFolder::try_to_create() {
  staging_ = target_.parent_path() /
             fmt::format("{}{}-{}", prefix_of(target_), ::getpid(), random_digits());
  content_ = staging_ / kContentName;
  if (::mkdir(staging_.c_str(), 0700) != 0) {
    if (errno == EEXIST) return false;
    fail_with_errno(errno, "cannot create a folder in", target_.parent_path());
  }
  lock_ = FileDescriptor(
      ::open((staging_ / kLockName).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock_.is_open()) {
    const int error = errno;
    remove_staging(staging_);
    if (error == ENOENT) return false;
    fail_with_errno(error, "cannot create a file in", target_.parent_path());
  }
  // File systems without locks go without: there nothing counts as abandoned.
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status = {};
  if (::fstat(lock_.get(), &status) != 0 || status.st_nlink == 0) return false;
  if (::mkdir(content_.c_str(), 0777) == 0) return true;
  const int error = errno;
  remove_staging(staging_);
  fail_with_errno(error, "cannot create a folder in", target_.parent_path());
}

void StagedFolder::publish() {
  sync_folders(content_);
  put_in_place();
  base::sync_folder(target_.parent_path());
}

void StagedFolder::put_in_place() {
  if (check_target(target_, marker_) && replace()) return;
  switch (const int error = rename_to_new(content_, target_)) {
    case 0:
      return;
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
      fail_as_taken(target_, "appeared while its content was being written",
                    "look who else writes there, and try again");
    default:
      fail_with_errno(error, "cannot create", target_);
  }
}

// The old folder is exchanged for the new one, so that the target is never missing; the destructor
// removes it. What came back is looked at again: it may not be what was checked a moment ago.
// Returns false when the target vanished meanwhile.
bool StagedFolder::replace() {
  const int error = rename_with_flags(content_, target_, RENAME_EXCHANGE);
  if (flags_unsupported(error)) return replace_in_two_steps();
  if (error == ENOENT) return false;
  if (error != 0) fail_with_errno(error, "cannot replace", target_);
  if (holds_file(content_, marker_)) return true;
  rename_with_flags(content_, target_, RENAME_EXCHANGE);
  fail_as_changed(target_);
}

bool StagedFolder::replace_in_two_steps() {
  const fs::path replaced = staging_ / kReplacedName;
  int error = rename_plainly(target_, replaced);
  if (error == ENOENT) return false;
  if (error != 0) fail_with_errno(error, "cannot replace", target_);
  const bool expected = holds_file(replaced, marker_);
  if (expected) error = rename_plainly(content_, target_);
  if (expected && error == 0) return true;
  rename_plainly(replaced, target_);
  if (!expected) fail_as_changed(target_);
  fail_with_errno(error, "cannot replace", target_);
}

}  // namespace sampan::package
