#include "decode/target_guard.h"

namespace sampan::decode {

bool repeats_unit(std::span<const std::int64_t> tokens) noexcept {
  constexpr std::size_t kTimes = 4;
  for (std::size_t unit = 1; unit * kTimes <= tokens.size(); ++unit) {
    // Four units in a row are three units' worth of tokens that equal the one a unit before.
    std::size_t equal = 0;
    for (std::size_t i = unit; i < tokens.size(); ++i) {
      equal = tokens[i] == tokens[i - unit] ? equal + 1 : 0;
      if (equal >= unit * (kTimes - 1)) return true;
    }
  }
  return false;
}

}  // namespace sampan::decode
