#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sampan/translator.h"

namespace sampan::evaluate {

/// A package, and how long loading it took.
struct TimedLoad {
  Translator translator;
  double seconds = 0.0;
};

/// Throws as `Translator::load`.
TimedLoad load_timed(const std::filesystem::path& package, const LoadOptions& options);

/// One pass over some lines.
struct Pass {
  double seconds = 0.0;
  std::vector<Translation> translations;

  /// Target tokens, ends of sentences included.
  std::size_t tokens() const;
};

/// All lines in one call, batched as the options say. Throws as `Translator::translate`.
Pass translate_timed(const Translator& translator, std::span<const std::string> lines,
                     const TranslateOptions& options);

/// Seconds of each line translated alone, without those that bypass the model. At most `most`
/// lines, spread evenly over all. Throws as `Translator::translate`.
std::vector<double> line_latencies(const Translator& translator, std::span<const std::string> lines,
                                   const TranslateOptions& options, std::size_t most);

/// At most `most` lines of `lines`, spread evenly, the first among them.
std::vector<std::string> spread_evenly(std::span<const std::string> lines, std::size_t most);

}  // namespace sampan::evaluate
