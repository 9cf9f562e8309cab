#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace sampan::checkpoint {

/// Throws `Error` kInvalidData when a file that should hold a checkpoint's weights or JSON is what
/// failed downloads leave: empty, a Git LFS pointer (also one with merge-conflict markers), a web
/// page. Anything else passes: this looks at the first bytes only.
void refuse_foreign_content(std::span<const std::byte> bytes, const std::filesystem::path& file);

}  // namespace sampan::checkpoint
