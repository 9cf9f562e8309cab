#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"
#include "graph/text_dump.h"
#include "sampan/error.h"

namespace {

using sampan::graph::Model;

std::string written(const Model& model) {
  std::string bytes;
  sampan::graph::write_model(model, [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return bytes;
}

}  // namespace

// Any bytes are a model or a clear error; what was read is written and read again the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sampan;
  try {
    Model model = graph::read_model(std::as_bytes(std::span(data, size)), "fuzz");
    graph::find_faults(model);
    const std::string bytes = written(model);
    const Model again = graph::read_model(std::as_bytes(std::span(bytes)), "fuzz");
    if (graph::to_text(again) != graph::to_text(model) || written(again) != bytes) std::abort();
    graph::open_external_data(model, "/no such folder/model.onnx");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) std::abort();
  }
  return 0;
}
