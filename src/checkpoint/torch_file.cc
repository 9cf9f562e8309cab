#include "checkpoint/torch_file.h"

#include <algorithm>
#include <string_view>

#include "base/fail.h"
#include "base/foreign_content.h"
#include "base/zip_archive.h"
#include "checkpoint/torch_stream.h"
#include "checkpoint/torch_zip.h"

namespace sampan::checkpoint {
namespace {

// torch before 0.1.2 wrote tar archives.
bool is_tar(std::span<const std::byte> bytes) {
  constexpr std::size_t kMagicOffset = 257;
  constexpr std::string_view kMagic = "ustar";
  return bytes.size() >= kMagicOffset + kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()) + kMagicOffset,
                          kMagic.size()) == kMagic;
}

}  // namespace

void read_torch_file(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     TensorStore& store) {
  base::refuse_foreign_content(bytes, file);
  if (is_tar(bytes))
    base::fail(ErrorCode::kUnsupported,
               "{}: is a tar archive, as torch before 0.1.2 wrote it; save it again with a newer "
               "torch",
               file.string());
  if (base::begins_like_zip(bytes)) return read_torch_zip(bytes, file, store);
  if (begins_like_torch_stream(bytes)) return read_torch_stream(bytes, file, store);
  base::fail(ErrorCode::kInvalidData,
             "{}: is neither a zip archive nor a stream that torch writes; download it again",
             file.string());
}

}  // namespace sampan::checkpoint
