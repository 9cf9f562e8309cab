#pragma once

#include <filesystem>

namespace sampan::base {

/// The path of `relative`, which a file of `folder` names, made sure to lie inside `folder`:
/// nothing absolute, no `..`, no symbolic link that leads out. Links into the `models--NAME/blobs`
/// of HuggingFace's download cache are allowed from its `models--NAME/snapshots/REVISION`, which
/// consist of them. Whether the path exists is not checked. `named_by` is the file to blame. Throws
/// `Error` kInvalidData; and what resolving links may throw: kPermissionDenied, kInvalidArgument (a
/// loop).
std::filesystem::path contained_path(const std::filesystem::path& folder,
                                     const std::filesystem::path& relative,
                                     const std::filesystem::path& named_by);

}  // namespace sampan::base
