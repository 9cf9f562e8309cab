#include "sampan/version.h"

namespace sampan {

const char* version() noexcept { return SAMPAN_VERSION; }

}  // namespace sampan
