#include "support/folders.h"

namespace sampan {

constexpr const char* const kSourceFolder = SAMPAN_SOURCE_DIR;
constexpr const char* const kBuildFolder = SAMPAN_BINARY_DIR;

}  // namespace sampan
