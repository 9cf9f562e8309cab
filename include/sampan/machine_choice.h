#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sampan/error.h"
#include "sampan/export.h"
#include "sampan/optimizer.h"

namespace sampan {

struct SAMPAN_API MachineChoiceOptions {
  /// Lines are translated one by one, or 32 at a time.
  OptimizedFor optimized_for = OptimizedFor::kLatency;
  /// Source sentences to measure on, at least one; a few dozen like those that will be translated.
  std::vector<std::string> texts;
  /// Most that a package may lose: the rise of -log p of the fp32 package's own translations, in
  /// nats a token. 0.1 is about what a good 4-bit package loses.
  double most_loss = 0.1;
  /// Replace a package that is already at the output path. Anything else there is never replaced.
  bool force = false;
  /// Called with one line for each thing that is done; may be empty.
  std::function<void(std::string_view)> report;
  /// A stop ends the call with `Error` kCancelled and leaves nothing behind.
  std::stop_token stop;
};

/// One package that was made and tried.
struct SAMPAN_API MachineTrial {
  std::string name;  ///< "int8 for latency"
  OptimizedWeights weights = OptimizedWeights::kFloat32;
  OptimizedFor optimized_for = OptimizedFor::kLatency;
  std::uint64_t graph_bytes = 0;   ///< graphs and weights
  double tokens_per_second = 0.0;  ///< target tokens, ends of sentences included
  double loss = 0.0;               ///< as `MachineChoiceOptions::most_loss`
  double same_lines = 0.0;         ///< share of lines with the fp32 package's tokens
};

struct SAMPAN_API MachineChoice {
  std::vector<MachineTrial> trials;
  std::size_t chosen = 0;  ///< index of the one at the output
};

/// Makes every package of layout `ort-cpu` from an fp32 package, measures them on this machine, and
/// writes the fastest within the loss; of those that are within a twentieth of its speed the
/// smallest. Which one that is depends on the machine and on what else it does. Throws `Error` as
/// `optimize_package` does, and kInvalidArgument for no texts.
SAMPAN_API MachineChoice optimize_for_this_machine(const std::filesystem::path& package,
                                                   const std::filesystem::path& output,
                                                   const MachineChoiceOptions& options);

}  // namespace sampan
