#pragma once

#include "sampan/export.h"

namespace sampan {

/// Version of the library: "0.1.0".
SAMPAN_API const char* version() noexcept;

}  // namespace sampan
