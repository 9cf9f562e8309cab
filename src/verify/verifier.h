#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "verify/report.h"

namespace sampan::verify {

struct VerifyOptions {
  /// Sentences to translate both ways, one each; empty: a few of our own. More find more, at the
  /// price of the time that the reference takes.
  std::vector<std::string> lines;
  /// Recorded translations (verify/baseline.h) to hold the package's own against; empty: none.
  std::filesystem::path baseline;
  /// Code of the target language of `baseline` and of the latency, for packages that have several.
  std::string target_language;
  /// Runs to measure the package's latency over; 0: it is not measured.
  std::size_t latency_runs = 0;
  /// What is translated in each run; empty: a sentence of our own.
  std::string latency_text;
  /// Threads; 0: as many as this process may use.
  int threads = 0;
  /// Also compare the model's last position, which costs the time of a whole page of text.
  bool longest_position = true;
  /// Called with one line for each step of the work, by one thread at a time; may be empty.
  std::function<void(std::string_view)> progress;
  /// A stop ends the verification with `Error` kCancelled.
  std::stop_token stop;
};

/// Holds a package against the checkpoint that it was made from: its files, its graphs, and what it
/// computes and translates against the reference. What is wrong with the package is in the report;
/// `Error` is thrown only for what keeps the verification from being made: kNotFound and others of
/// the package's folder, whatever the checkpoint's reader throws, kInvalidArgument for a target
/// language that is missing or unknown, kCancelled. Nothing is written.
Report verify_package(const std::filesystem::path& package, const std::filesystem::path& checkpoint,
                      const VerifyOptions& options = {});

}  // namespace sampan::verify
