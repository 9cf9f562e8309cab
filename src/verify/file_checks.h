#pragma once

#include <filesystem>
#include <vector>

#include "package/package.h"
#include "verify/report.h"

namespace sampan::verify {

/// Files against the manifest's SHA-256, and the checkpoint's files against those that the manifest
/// names as the package's source. Not checked for a package without a manifest.
std::vector<Check> check_files(const package::Package& package,
                               const std::filesystem::path& checkpoint);

/// Every graph file: well formed (`graph::find_faults`), and free of operators that draw random
/// numbers, as training leaves them behind.
std::vector<Check> check_graph_files(const package::Package& package);

}  // namespace sampan::verify
