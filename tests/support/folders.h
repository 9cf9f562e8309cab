#pragma once

namespace sampan {

/// The source tree and the build tree, absolute. Kept out of the compiler's command lines, so that
/// a compiler cache serves another clone too.
extern const char* const kSourceFolder;
extern const char* const kBuildFolder;

}  // namespace sampan
