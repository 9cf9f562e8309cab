#include "exporter/checkpoint_origin.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "exporter/package_files.h"
#include "package/file_entry.h"

namespace sampan::exporter {
namespace {

constexpr std::string_view kCachePrefix = "models--";

/// "models--Helsinki-NLP--opus-mt-en-zh" is the cache's spelling of "Helsinki-NLP/opus-mt-en-zh".
std::string repository_name(std::string_view cache_folder) {
  std::string name(cache_folder.substr(kCachePrefix.size()));
  if (const std::size_t at = name.find("--"); at != std::string::npos) name.replace(at, 2, "/");
  return name;
}

}  // namespace

package::Source origin_of(const checkpoint::Checkpoint& checkpoint) {
  package::Source source;
  const std::filesystem::path folder =
      (std::filesystem::absolute(checkpoint.folder) / "").lexically_normal().parent_path();
  const std::filesystem::path snapshots = folder.parent_path();
  const std::string cache = snapshots.parent_path().filename().string();
  if (snapshots.filename() == "snapshots" && cache.starts_with(kCachePrefix)) {
    source.name = repository_name(cache);
    source.revision = folder.filename().string();
  } else {
    source.name = folder.filename().string();
  }
  for (const std::filesystem::path& file : checkpoint.files)
    source.files.push_back(package::describe_file(checkpoint.folder, file.string()));
  for (const std::string& file : tokenizer_files(checkpoint))
    source.files.push_back(package::describe_file(checkpoint.folder, file));
  return source;
}

}  // namespace sampan::exporter
