#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/model.h"
#include "session/graph_runner.h"
#include "verify/probe.h"

namespace sampan::verify {

/// One branch of a merged decoder as a model of its own, with the merged model's names of outputs.
/// Throws `Error` kUnsupported for a model that is not one If behind its weights.
graph::Model branch_of(const graph::Model& merged, bool with_past);

/// A graph whose inner values can be looked at: they become outputs. The runtime's own fusions are
/// off, so that every operator is the one that the file names. Thread-safe.
class TracedGraph {
 public:
  /// `model` keeps references to its data files, which lie in `folder`; `stack` is as in
  /// `find_probes`. Throws as `session::SequenceModel::load`.
  TracedGraph(graph::Model model, const std::filesystem::path& folder, const std::string& stack,
              const session::SessionOptions& options);

  /// By the reference's names.
  const std::map<std::string, Probe, std::less<>>& probes() const { return probes_; }
  const session::GraphSignature& signature() const { return runner_->signature(); }

  /// The value of each probe, by the reference's name; inputs that the graph does not have are
  /// passed over. Throws as `session::GraphRunner::run`.
  std::map<std::string, session::NamedTensor, std::less<>> run(
      std::span<const session::NamedTensor> inputs) const;

 private:
  std::map<std::string, Probe, std::less<>> probes_;
  std::unique_ptr<const session::GraphRunner> runner_;
};

}  // namespace sampan::verify
