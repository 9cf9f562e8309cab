#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "session/sequence_model.h"
#include "session/signature.h"
#include "tensor/tensor.h"

namespace sampan::session {

/// A tensor in the processor's memory with the name of a graph's input or output.
struct NamedTensor {
  std::string name;
  tensor::Shape shape;
  /// Row-major; bool tensors are bytes of 0 and 1. Graphs' floats of other sizes are float here,
  /// their other integers int64.
  std::variant<std::vector<float>, std::vector<std::int64_t>, std::vector<std::uint8_t>> data;
};

/// Whether a `NamedTensor` can stand for such an input or output.
bool is_runnable(const ValueSignature& value);

/// Any ONNX graph, run once at a time with named inputs and outputs, to look at what it computes.
/// Tensors are copied in and out: translating goes through `SequenceModel`. Thread-safe.
class GraphRunner {
 public:
  /// Throws as `SequenceModel::load`.
  GraphRunner(const std::filesystem::path& file, const SessionOptions& options);
  /// A model in memory; `name` stands for it in messages. Weights that it does not hold are in
  /// files of `data_folder`. The bytes are not needed afterwards.
  GraphRunner(std::span<const std::byte> model, const std::string& name,
              const SessionOptions& options, const std::filesystem::path& data_folder = {});
  ~GraphRunner();
  GraphRunner(GraphRunner&&) noexcept;
  GraphRunner& operator=(GraphRunner&&) noexcept;

  const GraphSignature& signature() const;

  /// The outputs of these names, in their order. Throws `Error`: kInvalidArgument for data that is
  /// not of its shape; kUnsupported for an output that `NamedTensor` cannot stand for; otherwise
  /// what the runtime says of the inputs and the graph.
  std::vector<NamedTensor> run(std::span<const NamedTensor> inputs,
                               std::span<const std::string> outputs) const;
  /// The same, with nothing in the place of an output that `NamedTensor` cannot stand for.
  std::vector<std::optional<NamedTensor>> run_some(std::span<const NamedTensor> inputs,
                                                   std::span<const std::string> outputs) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace sampan::session
