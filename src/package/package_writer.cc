#include "package/package_writer.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/fail.h"
#include "base/system_error.h"

namespace sampan::package {
namespace fs = std::filesystem;

PackageWriter::File::File(PackageWriter& writer, std::string path)
    : writer_(&writer),
      path_(std::move(path)),
      file_(writer.folder_.content() / path_, writer.shown(path_)) {}

void PackageWriter::File::write(std::span<const std::byte> bytes) {
  hash_.update(bytes);
  file_.write(bytes);
}

FileEntry PackageWriter::File::close() {
  file_.close();
  return writer_->files_.emplace_back(FileEntry{path_, file_.size(), hash_.finish()});
}

PackageWriter::PackageWriter(const fs::path& target, bool force)
    : folder_(target, force ? std::string(kManifestName) : std::string()) {}

PackageWriter::File PackageWriter::create(std::string path) {
  const fs::path parent = (folder_.content() / path).parent_path();
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) base::fail_with_errno(error.value(), "cannot create the folder of", shown(path));
  return {*this, std::move(path)};
}

FileEntry PackageWriter::add(std::string path, std::string_view content) {
  File file = create(std::move(path));
  file.write(std::as_bytes(std::span(content)));
  return file.close();
}

void PackageWriter::seal(Manifest manifest) {
  std::ranges::sort(files_, {}, &FileEntry::path);
  manifest.files = files_;
  base::OutputFile file(folder_.content() / kManifestName, shown(std::string(kManifestName)));
  file.write(format_manifest(manifest));
  file.close();
}

void PackageWriter::finish(Manifest manifest) {
  seal(std::move(manifest));
  publish();
}

fs::path PackageWriter::shown(const std::string& path) const { return folder_.target() / path; }

void check_apart(const fs::path& source, const fs::path& output, std::string_view what) {
  std::error_code error;
  const fs::path kept = fs::canonical(source, error);
  if (error) base::fail_with_errno(error.value(), "cannot inspect", source);
  fs::path target = fs::weakly_canonical(base::absolute_path(output), error);
  if (error) base::fail_with_errno(error.value(), "cannot inspect", output);
  if (!target.has_filename()) target = target.parent_path();
  if (std::ranges::mismatch(target, kept).in1 == target.end())
    base::fail(ErrorCode::kInvalidArgument,
               "{}: {} lies in it and would be replaced; choose another output", output.string(),
               what);
}

}  // namespace sampan::package
