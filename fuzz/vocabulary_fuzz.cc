#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sampan/error.h"
#include "text/vocabulary.h"

// A vocab.json is refused, or every entry is found under its piece and under its id.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const auto vocabulary = sampan::text::Vocabulary::parse(json, "vocab.json");
    vocabulary.for_each([&](std::string_view piece, std::int64_t id) {
      if (vocabulary.find(piece) != id || vocabulary.piece(id) != piece) std::abort();
    });
    static_cast<void>(vocabulary.find(json));
  } catch (const sampan::Error& error) {
    if (error.code() != sampan::ErrorCode::kInvalidData ||
        std::string_view(error.what()).find('\n') != std::string_view::npos)
      std::abort();
  }
  return 0;
}
