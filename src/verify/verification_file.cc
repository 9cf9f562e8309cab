#include "verify/verification_file.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "base/output_file.h"
#include "base/system_error.h"

namespace sampan::verify {

void write_verification(const std::filesystem::path& package, const Report& report) {
  const std::filesystem::path target = package / kVerificationName;
  const std::filesystem::path staged =
      package / ("." + std::string(kVerificationName) + "." + std::to_string(::getpid()));
  std::error_code ignored;
  std::filesystem::remove(staged, ignored);  // of a process of the same number that was killed
  try {
    base::OutputFile file(staged, target);
    file.write(format_json(report));
    file.close();
    std::error_code error;
    std::filesystem::rename(staged, target, error);
    if (error) base::fail_with_errno(error.value(), "replace", target.string());
  } catch (...) {
    std::filesystem::remove(staged, ignored);
    throw;
  }
  base::sync_folder(package);
}

}  // namespace sampan::verify
