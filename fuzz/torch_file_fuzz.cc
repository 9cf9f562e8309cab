#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/torch_file.h"
#include "sampan/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::checkpoint::TensorStore store;
  try {
    sampan::checkpoint::read_torch_file(std::as_bytes(std::span(data, size)), "fuzz.bin", store);
  } catch (const sampan::Error&) {
  }
  return 0;
}
