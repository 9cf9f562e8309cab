#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sampan/error.h"
#include "verify/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    sampan::verify::parse_baseline({reinterpret_cast<const char*>(data), size}, "fuzz.jsonl");
  } catch (const sampan::Error&) {
  }
  return 0;
}
