#pragma once

#include "base/printable.h"

namespace sampan::checkpoint {

using base::printable;

}  // namespace sampan::checkpoint
