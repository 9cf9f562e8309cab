#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "evaluate/runtime_profile.h"
#include "sampan/error.h"

// Any text is a trace or a clear error, and no node takes less than no time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  evaluate::RuntimeProfile profile;
  try {
    evaluate::add_trace({reinterpret_cast<const char*>(data), size}, "graph", profile);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidData) std::abort();
  }
  for (const auto& [name, share] : profile.operators)
    if (share.calls < 1 || share.seconds < 0) std::abort();
  return 0;
}
