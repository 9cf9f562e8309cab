#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "sampan/translator.h"

namespace sampan::cli {

/// What a run has done; sums of its parts are added.
struct RunCounts {
  std::size_t lines = 0;
  std::size_t sentences = 0;           ///< that the model translated or passed through
  std::size_t tokens = 0;              ///< of targets
  std::size_t truncated = 0;           ///< lines with a translation that ran into its limit
  std::size_t repeating = 0;           ///< lines with a translation that repeats itself
  std::size_t invalid_utf8 = 0;        ///< sequences replaced
  std::size_t invalid_utf8_lines = 0;  ///< lines with such

  void add(const RunCounts& other);
  void add_translation(const Translation& translation);
};

/// "1012 lines, 1034 sentences, 9876 tokens in 3.2 s (3086 tokens/s); 1 ran into ..."
std::string closing_line(const RunCounts& counts, std::chrono::duration<double> elapsed);
/// What is said of input that was not UTF-8; empty if all was.
std::string utf8_warning(const RunCounts& counts);

/// A line on stderr that is overwritten as the run goes on. Not thread-safe.
class Progress {
 public:
  /// `shown` false makes everything a no-op.
  explicit Progress(bool shown);
  /// At most some times a second, so that it may be called often.
  void show(const RunCounts& counts);
  /// Removes the line, before something else is written there.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool visible_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace sampan::cli
