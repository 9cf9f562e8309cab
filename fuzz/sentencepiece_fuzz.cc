#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "sampan/error.h"
#include "text/piece_decoder.h"
#include "text/spm_file.h"
#include "text/spm_model.h"

// What our reader accepts of a .spm file, libsentencepiece loads or refuses, and cuts any text
// with, without a fault. The input's end is the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t model_size = size - size / 8;
  try {
    const std::string_view bytes = input.substr(0, model_size);
    const auto file = sampan::text::parse_spm(bytes, "source.spm");
    const sampan::text::SpmModel model(bytes, "source.spm");
    std::string text(input.substr(model_size));
    for (const auto& piece : file.pieces) text += piece.text;
    sampan::base::replace_invalid_utf8(text);
    const std::vector<std::string> pieces = model.encode(text);
    sampan::text::PieceDecoder(file).decode(
        std::vector<std::string_view>(pieces.begin(), pieces.end()));
  } catch (const sampan::Error& error) {
    const auto code = error.code();
    if (code != sampan::ErrorCode::kInvalidData && code != sampan::ErrorCode::kUnsupported)
      std::abort();
  }
  return 0;
}
