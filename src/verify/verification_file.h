#pragma once

#include <filesystem>
#include <string_view>

#include "verify/report.h"

namespace sampan::verify {

/// Name of a verification's result inside a package folder; docs/verify.md tells its content.
inline constexpr std::string_view kVerificationName = "verification.json";

/// Puts the report into its package, in place of an earlier one, complete or not at all. It names
/// the manifest's digest: a package with another manifest is not verified by it. Throws `Error` as
/// `base::OutputFile` does.
void write_verification(const std::filesystem::path& package, const Report& report);

}  // namespace sampan::verify
