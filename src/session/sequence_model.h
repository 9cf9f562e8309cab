#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "decode/step_model.h"
#include "package/package.h"

namespace sampan::session {

enum class OptimizationLevel { kDisabled, kBasic, kExtended, kAll };

/// How ONNX Runtime runs the graphs.
struct SessionOptions {
  /// Threads of one operator; 0: the processors this process may really use (cgroup quota,
  /// affinity, physical cores).
  int intra_op_threads = 0;
  OptimizationLevel optimization_level = OptimizationLevel::kAll;
  /// Keep freed memory for the next run: faster, at the price of a higher resident set.
  bool cpu_memory_arena = true;
  /// Let idle threads spin for a moment: lower latency, but a busy processor between requests.
  bool allow_spinning = false;
  /// Execution providers in order of preference; "cpu" is always tried last.
  std::vector<std::string> providers;
  /// Where each graph of a package leaves the runtime's trace, GRAPH.profile_TIME.json, when its
  /// model is destroyed; empty: nowhere.
  std::filesystem::path profile_folder;
  /// Where a graph that is loaded from memory has its weights, if in other files.
  std::filesystem::path external_data_folder = {};

  /// Every problem of these options, one sentence each.
  std::vector<std::string> validate() const;
};

/// The graphs of one package, loaded. Immutable, thread-safe, shared by all that translate.
class SequenceModel {
 public:
  /// Throws `Error`: kNotFound, kInvalidData (the runtime refuses a graph; inputs or outputs are
  /// not those of the contract), kUnsupported, kIncompatible.
  static std::shared_ptr<const SequenceModel> load(const package::Package& package,
                                                   const SessionOptions& options);
  virtual ~SequenceModel() = default;

  /// A new, independent state to decode with; it keeps this model alive.
  virtual std::unique_ptr<decode::StepModel> new_step_model() const = 0;
};

/// Version of the ONNX Runtime library in use: "1.30.0".
std::string runtime_version();

}  // namespace sampan::session
