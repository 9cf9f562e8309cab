#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/zip_archive.h"
#include "sampan/error.h"
#include "tensor/npz.h"

namespace {

const std::filesystem::path kFile = "fuzz.npz";

void read_arrays(std::span<const std::byte> bytes) {
  const sampan::base::ZipArchive archive(bytes, kFile);
  for (const auto& [name, entry] : archive.entries())
    sampan::tensor::read_npy(sampan::base::read_entry(entry, name, kFile), name, kFile);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    if (sampan::base::begins_like_zip(bytes))
      read_arrays(bytes);
    else
      sampan::tensor::read_npy(bytes, "fuzz", kFile);
  } catch (const sampan::Error&) {
  }
  return 0;
}
