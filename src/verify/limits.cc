#include "verify/limits.h"

namespace sampan::verify {

Limits limits_of(std::string_view precision) {
  if (precision == "int8") return {0.2, 0.1, 0.1, 0.25, 0.02};
  if (precision == "int4") return {2.0, 0.5, 0.5, 0.7, 0.05};
  return {};
}

}  // namespace sampan::verify
