#include "base/build_commit.h"

namespace sampan::base {

std::string_view build_commit() noexcept { return SAMPAN_COMMIT; }

}  // namespace sampan::base
