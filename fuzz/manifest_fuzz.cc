#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "package/manifest.h"
#include "sampan/error.h"

// Any text is a manifest or a clear error; what was read is written and read again the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string written = package::format_manifest(package::parse_manifest(text, "fuzz"));
    if (package::format_manifest(package::parse_manifest(written, "fuzz")) != written) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
