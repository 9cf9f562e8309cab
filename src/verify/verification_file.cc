#include "verify/verification_file.h"

#include "base/output_file.h"

namespace sampan::verify {

void write_verification(const std::filesystem::path& package, const Report& report) {
  base::replace_file(package / kVerificationName, format_json(report));
}

}  // namespace sampan::verify
