#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/measured_package.h"
#include "evaluate/package_size.h"
#include "evaluate/quality.h"

namespace sampan::cli {

/// Everything that was found out about one package.
struct PackageEvaluation {
  std::string name;
  std::filesystem::path folder;
  evaluate::PackageSize size;
  LoadFigures load;
  PassFigures pass;
  evaluate::Quality quality;
  std::vector<double> latencies;  ///< seconds, of lines translated one by one
  /// Lines whose tokens are not the baseline's; nothing for the baseline itself, or without one.
  std::optional<std::vector<evaluate::Difference>> differences;
};

struct EvaluationReport {
  std::string machine;   ///< one line: date, processor, versions
  std::string settings;  ///< one line: what was translated, and how
  evaluate::BleuTokenizer tokenizer = evaluate::BleuTokenizer::k13a;
  std::size_t lines = 0;
  /// The baseline, if there is one, comes first.
  std::vector<PackageEvaluation> packages;
};

/// Tables with a column for each package.
std::string plain_report(const EvaluationReport& report);
std::string markdown_report(const EvaluationReport& report);
/// One JSON object on one line; docs/evaluate.md lists its fields.
std::string json_report(const EvaluationReport& report);
/// Quality against size and against speed, as one SVG picture.
std::string svg_report(const EvaluationReport& report);

}  // namespace sampan::cli
