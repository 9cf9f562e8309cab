#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"
#include "cli/translation_flags.h"
#include "cli/worker_process.h"
#include "evaluate/runtime_profile.h"
#include "sampan/translator.h"

namespace sampan::cli {

/// What every package of a measurement is asked to do.
struct Measurement {
  TranslationFlags flags;
  std::vector<std::string> lines;  ///< valid UTF-8
  /// Each line is one sentence of exactly so many target tokens; nothing: as long as they come.
  std::optional<std::int64_t> forced_length;
};

/// Loading, and the settings that came of flags and package.
struct LoadFigures {
  double seconds = 0.0;        ///< from the call to a translator that is ready
  std::size_t idle_bytes = 0;  ///< resident before loading: the program itself
  std::int64_t num_beams = 0;
  std::size_t batch_size = 0;
};

struct PassFigures {
  double seconds = 0.0;
  std::size_t tokens = 0;      ///< of targets, ends of sentences included
  std::size_t peak_bytes = 0;  ///< the most that was resident in this process' life so far
};

struct ProfileFigures {
  double seconds = 0.0;    ///< of the pass, while the runtime took notes, which slows it
  std::size_t tokens = 0;  ///< of targets
  evaluate::RuntimeProfile runtime;
};

/// A package in a process of its own, which is timed there. Calls throw `Error` as `Translator`
/// does and as `WorkerProcess::ask`. Not thread-safe.
class MeasuredPackage {
 public:
  /// Forks, as `WorkerProcess`; nothing is loaded yet.
  MeasuredPackage(std::filesystem::path folder, std::shared_ptr<const Measurement> measurement);

  const std::filesystem::path& folder() const noexcept { return folder_; }

  /// Comes before what follows.
  LoadFigures load(const Interrupt& interrupt);
  /// Translates at most so many lines, spread evenly.
  PassFigures translate(std::size_t most_lines, const Interrupt& interrupt);
  /// Of the last `translate`: text, tokens, `repeats` and `truncated`.
  std::vector<Translation> translations(const Interrupt& interrupt);
  /// Seconds of lines translated one by one; at most so many, spread evenly.
  std::vector<double> latencies(std::size_t most_lines, const Interrupt& interrupt);
  /// Loads the package anew and translates at most so many lines while the runtime writes its
  /// traces into the folder `traces`, which is empty.
  ProfileFigures profile(std::size_t most_lines, const std::filesystem::path& traces,
                         const Interrupt& interrupt);

 private:
  std::filesystem::path folder_;
  WorkerProcess worker_;
};

/// How packages are called in tables: the folders' names, or the paths where these are not
/// distinct.
std::vector<std::string> display_names(const std::vector<std::filesystem::path>& folders);

}  // namespace sampan::cli
