#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "session/signature.h"

namespace sampan::session {

/// One graph of a package, loaded. Thread-safe.
class Graph {
 public:
  /// Throws as `fail_to_load`.
  Graph(const std::filesystem::path& file, const Ort::SessionOptions& options);
  /// A whole model in memory, which `name` stands for in messages. Throws likewise.
  Graph(std::span<const std::byte> model, const std::string& name,
        const Ort::SessionOptions& options);

  const GraphSignature& signature() const { return signature_; }

  /// Runs the graph: input_names[i] is fed inputs[i], outputs[i] becomes output_names[i]. Memory of
  /// outputs is the runtime's. On an error, thrown as by `fail_to_run`, outputs are empty.
  void run(const std::vector<const char*>& input_names, const std::vector<const OrtValue*>& inputs,
           const std::vector<const char*>& output_names, std::vector<Ort::Value>& outputs) const;
  /// The same into tensors of the caller: outputs[i] has the shape that output_names[i] will have,
  /// or is null for one that the runtime makes and the caller releases.
  void run_into(const std::vector<const char*>& input_names,
                const std::vector<const OrtValue*>& inputs,
                const std::vector<const char*>& output_names,
                std::vector<OrtValue*>& outputs) const;

 private:
  Ort::Session session_;
  GraphSignature signature_;
};

}  // namespace sampan::session
