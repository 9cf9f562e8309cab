#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "decode/generation_config_json.h"
#include "sampan/error.h"

// Any two texts, divided at the first zero byte, are a valid configuration or a clear error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\0');
  decode::GenerationConfigTexts texts{"fuzz", text.substr(0, end), std::nullopt};
  if (end != std::string_view::npos) texts.config = text.substr(end + 1);
  if (texts.generation_config->empty() && texts.config) texts.generation_config.reset();
  try {
    const GenerationConfig config = decode::parse_generation_config(texts);
    if (!config.validate().empty() || config.eos_token_id.empty()) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
