#include "exporter/checkpoint_origin.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/contained_path.h"
#include "base/mapped_file.h"
#include "base/system_error.h"
#include "exporter/package_files.h"
#include "package/file_entry.h"
#include "sampan/error.h"

namespace sampan::exporter {
namespace {

constexpr std::string_view kCachePrefix = "models--";
constexpr std::size_t kCommitDigits = 40;
/// What the hub's client leaves in a folder that it downloads to: a commit, a digest, a time.
constexpr const char* kDownloadRecord = ".cache/huggingface/download/config.json.metadata";
constexpr const char* kGitHead = ".git/HEAD";

/// "models--Helsinki-NLP--opus-mt-en-zh" is the cache's spelling of "Helsinki-NLP/opus-mt-en-zh".
std::string repository_name(std::string_view cache_folder) {
  std::string name(cache_folder.substr(kCachePrefix.size()));
  if (const std::size_t at = name.find("--"); at != std::string::npos) name.replace(at, 2, "/");
  return name;
}

/// The first line of a small file inside the folder, or nothing: an origin that cannot be read is
/// unknown, and no reason to refuse a checkpoint.
std::string first_line(const std::filesystem::path& folder, const std::string& name) {
  constexpr std::size_t kLargestRecord = 4096;
  try {
    const std::string text =
        base::read_file(base::contained_path(folder, name, folder), kLargestRecord);
    return text.substr(0, text.find('\n'));
  } catch (const Error&) {
    return {};
  }
}

bool is_commit(std::string_view text) {
  return text.size() == kCommitDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The commit that a folder was downloaded at or, as a clone, has checked out.
std::string commit_of(const std::filesystem::path& folder) {
  constexpr std::string_view kReference = "ref: ";
  std::string commit = first_line(folder, kDownloadRecord);
  if (commit.empty()) commit = first_line(folder, kGitHead);
  if (commit.starts_with(kReference))
    commit = first_line(folder, ".git/" + commit.substr(kReference.size()));
  return is_commit(commit) ? commit : std::string();
}

}  // namespace

package::Source origin_of(const checkpoint::Checkpoint& checkpoint) {
  package::Source source;
  const std::filesystem::path folder =
      (base::absolute_path(checkpoint.folder) / "").lexically_normal().parent_path();
  const std::filesystem::path snapshots = folder.parent_path();
  const std::string cache = snapshots.parent_path().filename().string();
  if (snapshots.filename() == "snapshots" && cache.starts_with(kCachePrefix)) {
    source.name = repository_name(cache);
    source.revision = folder.filename().string();
  } else {
    source.name = folder.filename().string();
    source.revision = commit_of(folder);
  }
  for (const std::filesystem::path& file : checkpoint.files)
    source.files.push_back(package::describe_file(checkpoint.folder, file.string()));
  for (const std::string& file : tokenizer_files(checkpoint))
    source.files.push_back(package::describe_file(checkpoint.folder, file));
  return source;
}

}  // namespace sampan::exporter
