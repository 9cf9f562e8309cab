#pragma once

#include <filesystem>
#include <string>

#include "cli/bench_report.h"
#include "cli/evaluation_report.h"
#include "cli/interrupt.h"

namespace CLI {
class App;
}

namespace sampan::cli {

/// In which form a user wants the report of a measurement.
class ReportFlags {
 public:
  /// Declares --json, --markdown and --svg.
  void add_to(CLI::App& app);
  /// Finds out before the work whether the picture can be written. Throws `Error`.
  void check() const;

  bool json = false;
  bool markdown = false;
  std::filesystem::path svg;  ///< empty: no picture
};

/// Writes the report to standard output, and the picture to its file, which it replaces. Throws
/// `Error`, `ClosedPipe`.
void write_report(const ReportFlags& flags, const EvaluationReport& report,
                  const Interrupt& interrupt);
void write_report(const ReportFlags& flags, const BenchReport& report, const Interrupt& interrupt);

}  // namespace sampan::cli
