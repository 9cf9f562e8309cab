#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/evaluation_report.h"
#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/measured_package.h"
#include "cli/report_output.h"
#include "cli/stoppable_run.h"
#include "cli/terminal.h"
#include "evaluate/mteval_tokenizer.h"
#include "evaluate/quality.h"

namespace sampan::cli {
namespace {

enum class TokenizerChoice { kByText, k13a, kZh };

struct Command {
  std::vector<std::filesystem::path> packages;
  std::filesystem::path baseline;
  std::filesystem::path source;
  std::filesystem::path reference;
  TokenizerChoice tokenizer = TokenizerChoice::kByText;
  std::size_t latency_lines = 200;
  ReportFlags report;
  TranslationFlags flags;
};

evaluate::BleuTokenizer tokenizer_of(TokenizerChoice choice,
                                     const std::vector<std::string>& references) {
  switch (choice) {
    case TokenizerChoice::k13a:
      return evaluate::BleuTokenizer::k13a;
    case TokenizerChoice::kZh:
      return evaluate::BleuTokenizer::kZh;
    case TokenizerChoice::kByText:
      break;
  }
  return evaluate::tokenizer_for(references);
}

// One package after another: each process is made early, and has the machine to itself when it is
// asked.
class EvaluateRun {
 public:
  explicit EvaluateRun(const Command& command) : command_(command) {
    if (command.source == "-" && command.reference == "-")
      base::fail(ErrorCode::kInvalidArgument,
                 "--source and --reference are both standard input; name a file for one");
    Measurement measurement;
    measurement.flags = command.flags;
    measurement.lines = read_text(command.source, "--source");
    references_ = read_text(command.reference, "--reference");
    if (measurement.lines.size() != references_.size())
      base::fail(ErrorCode::kInvalidArgument,
                 "{} has {} lines and {} has {}; give one reference a line",
                 command.source.string(), measurement.lines.size(), command.reference.string(),
                 references_.size());
    if (!command.baseline.empty()) folders_.push_back(command.baseline);
    folders_.insert(folders_.end(), command.packages.begin(), command.packages.end());
    for (const std::filesystem::path& folder : folders_) evaluate::package_size(folder);
    const auto shared = std::make_shared<const Measurement>(std::move(measurement));
    for (const std::filesystem::path& folder : folders_) packages_.emplace_back(folder, shared);
    report_.tokenizer = tokenizer_of(command.tokenizer, references_);
    report_.lines = references_.size();
  }

  EvaluationReport run(const Interrupt& interrupt) && {
    const std::vector<std::string> names = display_names(folders_);
    for (std::size_t i = 0; i < packages_.size(); ++i) {
      if (stderr_is_terminal()) print_status(fmt::format("{}: {} lines", names[i], report_.lines));
      // Moved out, so that its process ends before the next one is measured.
      MeasuredPackage package = std::move(packages_[i]);
      PackageEvaluation evaluation = evaluate(package, interrupt);
      evaluation.name = names[i];
      report_.packages.push_back(std::move(evaluation));
    }
    if (stderr_is_terminal()) print_status("");
    report_.machine = describe_machine();
    report_.settings =
        fmt::format("{} lines of {}, {}", report_.lines, command_.source.filename().string(),
                    describe_settings(command_.flags, report_.packages.front().load));
    return std::move(report_);
  }

 private:
  PackageEvaluation evaluate(MeasuredPackage& package, const Interrupt& interrupt) {
    PackageEvaluation evaluation;
    evaluation.folder = package.folder();
    evaluation.size = evaluate::package_size(package.folder());
    evaluation.load = package.load(interrupt);
    package.translate(evaluation.load.batch_size, interrupt);  // to warm up
    evaluation.pass = package.translate(references_.size(), interrupt);
    std::vector<Translation> translations = package.translations(interrupt);
    if (command_.latency_lines > 0)
      evaluation.latencies = package.latencies(command_.latency_lines, interrupt);
    evaluation.quality = evaluate::measure_quality(translations, references_, report_.tokenizer);
    if (command_.baseline.empty()) return evaluation;
    if (report_.packages.empty())
      baseline_ = std::move(translations);
    else
      evaluation.differences = evaluate::differences(translations, baseline_);
    return evaluation;
  }

  const Command& command_;
  std::vector<std::string> references_;
  std::vector<std::filesystem::path> folders_;
  std::vector<MeasuredPackage> packages_;
  std::vector<Translation> baseline_;
  EvaluationReport report_;
};

void run(const Command& command) {
  command.report.check();
  EvaluateRun evaluation(command);
  run_interruptible([&](const Interrupt& interrupt) {
    write_report(command.report, std::move(evaluation).run(interrupt), interrupt);
  });
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  auto command = std::make_shared<Command>();
  CLI::App* sub = app.add_subcommand(
      "evaluate", "Quality of packages on a parallel text, and what they cost: time, memory, size");
  sub->add_option("PACKAGE", command->packages, "folders of the packages")->required();
  sub->add_option("--source", command->source, "source lines; - is standard input")
      ->type_name("FILE")
      ->required();
  sub->add_option("--reference", command->reference, "a good translation of each line")
      ->type_name("FILE")
      ->required();
  sub->add_option("--baseline", command->baseline, "package whose tokens the others are held to")
      ->type_name("PACKAGE");
  const std::map<std::string, TokenizerChoice> tokenizers = {{"13a", TokenizerChoice::k13a},
                                                             {"zh", TokenizerChoice::kZh}};
  sub->add_option("--tokenizer", command->tokenizer,
                  "how BLEU cuts words: 13a or zh (zh if the references are mostly Chinese)")
      ->transform(CLI::CheckedTransformer(tokenizers))
      ->type_name("NAME");
  sub->add_option(
         "--latency-lines", command->latency_lines,
         "lines translated one by one for the latency, spread over the file; 0: none (200)")
      ->type_name("N");
  command->report.add_to(*sub);
  command->flags.add_language_flag(*sub);
  command->flags.add_text_flags(*sub);
  command->flags.add_batch_flags(*sub);
  command->flags.add_load_flags(*sub);
  command->flags.add_search_flags(*sub);
  sub->callback([command] { run(*command); });
}

}  // namespace sampan::cli
