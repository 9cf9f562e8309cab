#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "sampan/translator.h"
#include "verify/report.h"

namespace sampan::verify {

struct LatencyInput {
  const Translator& translator;
  std::string text;             ///< what is translated again and again
  std::size_t runs = 1000;      ///< 1 or more; some before them are not counted
  std::string target_language;  ///< as `TranslateOptions` has it
  int threads = 1;              ///< that the translator was loaded with, for the report
  std::function<void(std::string_view)> progress;
  std::stop_token stop;
};

/// Translates one text `runs` times with the package's defaults, and tells how long it took and
/// what disturbed it. Throws `Error`: kInvalidArgument without runs or text, kCancelled, and what
/// translating throws.
Latency measure_latency(const LatencyInput& input);

/// The middle, nine tenths and ninety-nine hundredths of times, each a time that occurred.
TimeSpread spread_of(std::span<const double> times);

/// The middle time of the last quarter relative to that of the first, less 1: 0.1 is a tenth
/// slower. 0 for fewer than 8 times.
double drift_of(std::span<const double> times);

/// What the system tells of disturbances, read twice and compared.
class DisturbanceWatch {
 public:
  /// Reads under `root`, "/" but in tests.
  explicit DisturbanceWatch(std::filesystem::path root = "/");
  /// Looks at the clock once more.
  void sample();
  /// Whether the processors were throttled since; nothing where no counter tells. `note` becomes
  /// one line on what was seen and what cannot be known.
  std::optional<bool> throttled(std::string& note) const;

 private:
  std::filesystem::path root_;
  std::optional<std::int64_t> periods_, heat_, stolen_;
  std::optional<double> slowest_, fastest_;
};

}  // namespace sampan::verify
