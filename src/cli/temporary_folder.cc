#include "cli/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/system_error.h"

namespace sampan::cli {

TemporaryFolder::TemporaryFolder(const std::string& stem) {
  std::string name = (std::filesystem::temp_directory_path() / (stem + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) base::fail_with_errno(errno, "cannot create", name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sampan::cli
