#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace sampan::base {

/// Throws `Error` kInvalidData when a file that should hold a model's weights, vocabulary or
/// settings is what failed downloads leave: empty, a Git LFS pointer (also one with merge-conflict
/// markers), a web page. Anything else passes: this looks at the first bytes only.
void refuse_foreign_content(std::span<const std::byte> bytes, const std::filesystem::path& file);

}  // namespace sampan::base
