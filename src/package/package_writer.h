#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"
#include "base/sha256.h"
#include "package/file_entry.h"
#include "package/manifest.h"
#include "package/staged_folder.h"

namespace sampan::package {

/// Writes a package that appears at its place complete or not at all: what was written is removed
/// with an object that was not finished. Not thread-safe. Every member throws `Error`:
/// kAlreadyExists, kNotFound (the target's parent), kPermissionDenied, kResourceExhausted.
class PackageWriter {
 public:
  /// One file of the package, written from front to back. Several may be open at once; each ends
  /// with `close`, before the writer is finished.
  class File {
   public:
    void write(std::span<const std::byte> bytes);
    FileEntry close();

   private:
    friend class PackageWriter;
    File(PackageWriter& writer, std::string path);

    PackageWriter* writer_;
    std::string path_;
    base::OutputFile file_;
    base::Sha256 hash_;
  };

  /// With `force` a package that is already at `target` is replaced; nothing else ever is.
  PackageWriter(const std::filesystem::path& target, bool force);

  /// Starts a file; `path` is relative, with `/` between its parts. The folders on the way are
  /// made.
  File create(std::string path);
  /// Writes a small file at once.
  FileEntry add(std::string path, std::string_view content);

  /// Writes the manifest, whose `files` are filled in: the package lies complete in its temporary
  /// place, `folder`, and can be tried there before it is published.
  void seal(Manifest manifest);
  const std::filesystem::path& folder() const noexcept { return folder_.content(); }
  /// Puts the sealed package in its place.
  void publish() { folder_.publish(); }
  /// Both.
  void finish(Manifest manifest);

 private:
  std::filesystem::path shown(const std::string& path) const;

  StagedFolder folder_;
  std::vector<FileEntry> files_;
};

/// Throws `Error` kInvalidArgument when replacing `output` would take away `source`, which lies in
/// it or is it. `what` names the source in the message.
void check_apart(const std::filesystem::path& source, const std::filesystem::path& output,
                 std::string_view what);

}  // namespace sampan::package
