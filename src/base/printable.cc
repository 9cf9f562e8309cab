#include "base/printable.h"

#include <fmt/format.h>

namespace sampan::base {

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string line;
  for (const char c : text) {
    if (line.size() >= kLongest) return line + "...";
    if (c >= ' ' && c <= '~') {
      line += c;
    } else {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return line;
}

}  // namespace sampan::base
