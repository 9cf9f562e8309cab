#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "text/id_scanner.h"

// Where the scanner accepts a text, the JSON library reads the same members out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nlohmann::json scanned = nlohmann::json::object();
  const bool accepted =
      sampan::text::scan_ids(text, [&](std::string_view name, std::uint64_t number) {
        scanned[std::string(name)] = number;
        return true;
      });
  if (accepted && nlohmann::json::parse(text, nullptr, false) != scanned) std::abort();
  return 0;
}
