#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/line_reader.h"
#include "cli/model_comparison_flags.h"
#include "cli/stoppable_run.h"
#include "cli/terminal.h"
#include "verify/html_report.h"
#include "verify/verification_file.h"
#include "verify/verifier.h"

namespace sampan::cli {
namespace {

// What a verification that ran to its end may end with, beside 0; docs/errors.md.
constexpr int kFoundProblems = 13;
constexpr std::size_t kLatencyRuns = 1000;
constexpr std::size_t kMostLatencyRuns = 10'000'000;

struct VerifyArguments {
  std::filesystem::path package;
  std::filesystem::path checkpoint;
  std::string text;
  std::filesystem::path baseline;
  std::string target_language;
  bool latency = false;
  std::optional<std::size_t> latency_runs;
  std::string latency_text;
  std::filesystem::path html;
  int threads = 0;
  bool json = false;
  bool no_record = false;

  bool wants_latency() const { return latency || latency_runs || !latency_text.empty(); }
  ModelComparisonFlags models;
};

std::vector<std::string> read_lines(const std::string& file, const Interrupt& interrupt) {
  std::vector<std::string> lines;
  if (file.empty()) return lines;
  LineReader reader({file}, interrupt);
  InputLine line;
  while (reader.next(line, true) == LineReader::Status::kLine) lines.push_back(line.text);
  if (lines.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}: has no line to verify with; give another text",
               file);
  return lines;
}

/// Options that both kinds of verification have.
template <typename Options>
Options with_progress(Options options, const VerifyArguments& arguments,
                      const Interrupt& interrupt) {
  options.threads = arguments.threads;
  options.stop = interrupt.stop_token();
  if (stderr_is_terminal()) options.progress = print_status;
  return options;
}

bool compares_models(const VerifyArguments& arguments) {
  return arguments.models.given() || std::filesystem::is_regular_file(arguments.package);
}

void check_arguments(const VerifyArguments& arguments) {
  if (compares_models(arguments)) {
    if (!arguments.checkpoint.empty() || !arguments.text.empty() || !arguments.baseline.empty() ||
        arguments.wants_latency())
      base::fail(
          ErrorCode::kInvalidArgument,
          "--checkpoint, --text, --baseline and --latency belong to a package; compare {} with "
          "--against or --expect alone",
          arguments.package.string());
    return;
  }
  if (arguments.models.any())
    base::fail(ErrorCode::kInvalidArgument,
               "--inputs, --dim, --max-id and --limit belong to --against and --expect");
  if (arguments.checkpoint.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "name the checkpoint that {} was made from with --checkpoint",
               arguments.package.string());
}

verify::Report verify(const VerifyArguments& arguments, const Interrupt& interrupt) {
  if (compares_models(arguments))
    return verify::compare_models(arguments.package,
                                  with_progress(arguments.models.options(), arguments, interrupt));
  verify::VerifyOptions options;
  options.lines = read_lines(arguments.text, interrupt);
  options.baseline = arguments.baseline;
  options.target_language = arguments.target_language;
  if (arguments.wants_latency())
    options.latency_runs = arguments.latency_runs.value_or(kLatencyRuns);
  options.latency_text = arguments.latency_text;
  return verify::verify_package(arguments.package, arguments.checkpoint,
                                with_progress(std::move(options), arguments, interrupt));
}

void record(const VerifyArguments& arguments, const verify::Report& report) {
  if (arguments.no_record || compares_models(arguments)) return;
  if (report.manifest_sha256.empty()) {
    print_note(fmt::format("{}: has no sampan.json; the result was not recorded in it",
                           arguments.package.string()));
    return;
  }
  verify::write_verification(arguments.package, report);
}

/// What the page of a report is about.
std::string subject_of(const VerifyArguments& arguments) {
  const std::string what = arguments.package.string();
  if (!compares_models(arguments))
    return fmt::format("{} against its checkpoint {}", what, arguments.checkpoint.string());
  return fmt::format("{} against {}", what, arguments.models.other().string());
}

/// Takes the line of progress off the terminal once the work is over, however it ends.
struct ClearedStatus {
  ~ClearedStatus() {
    if (stderr_is_terminal()) print_status("");
  }
};

void run_verify(const VerifyArguments& arguments) {
  check_arguments(arguments);
  verify::Report report;
  run_interruptible(
      [&](const Interrupt& interrupt) {
        const ClearedStatus status;
        report = verify(arguments, interrupt);
      },
      "nothing was recorded");
  record(arguments, report);
  if (!arguments.html.empty())
    base::replace_file(arguments.html, verify::format_html(report, subject_of(arguments)));
  std::string text = arguments.json ? verify::format_json(report) : verify::format_text(report);
  if (text.ends_with('\n')) text.pop_back();
  print_line(text);
  if (report.verdict() == verify::Outcome::kFailed) throw ExitStatus{kFoundProblems};
  if (report.verdict() == verify::Outcome::kNotChecked)
    throw ExitStatus{exit_code(ErrorCode::kUnsupported)};
}

}  // namespace

void add_verify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "verify", "Prove that a package computes and translates what its checkpoint does");
  const auto arguments = std::make_shared<VerifyArguments>();
  command->add_option("PACKAGE", arguments->package, "folder of the package, or a model file")
      ->type_name("")
      ->required();
  command
      ->add_option("--checkpoint", arguments->checkpoint,
                   "HuggingFace checkpoint folder that it was made from")
      ->type_name("FOLDER");
  command
      ->add_option("--text", arguments->text,
                   "sentences to translate both ways, one a line; default: 24 English ones")
      ->type_name("FILE");
  command
      ->add_option("--baseline", arguments->baseline,
                   "recorded translations to hold the package's against, as translate --json "
                   "writes them")
      ->type_name("FILE");
  command
      ->add_option("--target-language", arguments->target_language,
                   "of the baseline and the latency, for packages that have several")
      ->type_name("CODE");
  command->add_flag("--latency", arguments->latency,
                    "also measure how long one sentence takes, 1000 times");
  command->add_option("--latency-runs", arguments->latency_runs, "times instead of 1000")
      ->check(CLI::Range(std::size_t{1}, kMostLatencyRuns).description(""))
      ->type_name("N");
  command->add_option("--latency-text", arguments->latency_text, "what is translated each time")
      ->type_name("TEXT");
  command->add_option("--threads", arguments->threads, "0: as many as this process may use")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N");
  arguments->models.add(*command);
  command->add_flag("--json", arguments->json, "write the report as JSON");
  command->add_option("--html", arguments->html, "also write the report as one page, with plots")
      ->type_name("FILE");
  command->add_flag("--no-record", arguments->no_record,
                    "leave the package alone instead of writing verification.json into it");
  command->callback([arguments] { run_verify(*arguments); });
}

}  // namespace sampan::cli
