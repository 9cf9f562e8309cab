#include <cstddef>
#include <cstdint>
#include <string_view>

#include "checkpoint/model_config.h"
#include "checkpoint/shard_index.h"
#include "sampan/error.h"

// config.json and the index of shards: the two kinds of JSON that a checkpoint is opened by.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    sampan::checkpoint::parse_model_config(text, "config.json");
  } catch (const sampan::Error&) {
  }
  try {
    sampan::checkpoint::parse_shard_index(text, "model.safetensors.index.json");
  } catch (const sampan::Error&) {
  }
  return 0;
}
