#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/safetensors.h"
#include "sampan/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::checkpoint::TensorStore store;
  try {
    sampan::checkpoint::read_safetensors(std::as_bytes(std::span(data, size)), "fuzz.bin", store);
  } catch (const sampan::Error&) {
  }
  return 0;
}
