#include "cli/report_output.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <system_error>

#include "base/fail.h"
#include "base/output_file.h"
#include "cli/line_output.h"

namespace sampan::cli {
namespace {

namespace fs = std::filesystem;

template <typename Report>
void write(const ReportFlags& flags, const Report& report, const Interrupt& interrupt) {
  OutputBlock block;
  block.bytes = flags.json       ? json_report(report)
                : flags.markdown ? markdown_report(report)
                                 : plain_report(report);
  if (!flags.svg.empty()) base::replace_file(flags.svg, svg_report(report));
  StreamOutput(interrupt).write(block);
}

}  // namespace

void ReportFlags::add_to(CLI::App& app) {
  constexpr const char* kGroup = "Report";
  CLI::Option* as_json = app.add_flag("--json", json, "write one JSON object")->group(kGroup);
  app.add_flag("--markdown", markdown, "write Markdown")->excludes(as_json)->group(kGroup);
  app.add_option("--svg", svg, "also draw the figures into FILE")->type_name("FILE")->group(kGroup);
}

void ReportFlags::check() const {
  if (svg.empty()) return;
  std::error_code error;
  if (fs::exists(svg, error) && !fs::is_regular_file(svg, error))
    base::fail(ErrorCode::kInvalidArgument, "{}: is no regular file; name another one for --svg",
               svg.string());
  const fs::path folder = svg.has_parent_path() ? svg.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error))
    base::fail(ErrorCode::kNotFound, "{}: there is no such folder; create it or name another file",
               folder.string());
  if (::access(folder.c_str(), W_OK) != 0)
    base::fail(ErrorCode::kPermissionDenied, "{}: cannot be written to; name another file",
               folder.string());
}

void write_report(const ReportFlags& flags, const EvaluationReport& report,
                  const Interrupt& interrupt) {
  write(flags, report, interrupt);
}

void write_report(const ReportFlags& flags, const BenchReport& report, const Interrupt& interrupt) {
  write(flags, report, interrupt);
}

}  // namespace sampan::cli
