#pragma once

#include <filesystem>
#include <stop_token>

namespace sampan::translator {

/// Loads every graph of a package, either form of the decoder included, and translates with it.
/// Throws `Error`: what loading and translating throw; kUnsupported when nothing comes out.
void check_package(const std::filesystem::path& folder, const std::stop_token& stop);

}  // namespace sampan::translator
