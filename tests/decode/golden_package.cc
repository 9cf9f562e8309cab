#include "decode/golden_package.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "package/package.h"
#include "sampan/exporter.h"
#include "support/folders.h"

namespace sampan::decode {
namespace {

/// A folder of this process alone, gone when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::path(kBuildFolder) /
              ("golden-package." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::shared_ptr<const session::SequenceModel> load_exported() {
  const TemporaryFolder folder;
  export_checkpoint(std::string(kSourceFolder) + "/models/tatoeba-en-zh", folder.path());
  session::SessionOptions options;
  options.intra_op_threads = 1;
  return session::SequenceModel::load(
      package::open_package(folder.path(), session::runtime_version()), options);
}

}  // namespace

std::shared_ptr<const session::SequenceModel> golden_model() {
  static const std::shared_ptr<const session::SequenceModel> model = load_exported();
  return model;
}

}  // namespace sampan::decode
