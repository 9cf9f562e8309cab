#pragma once

#include "base/foreign_content.h"

namespace sampan::checkpoint {

using base::refuse_foreign_content;

}  // namespace sampan::checkpoint
