#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/measured_package.h"
#include "cli/report_output.h"
#include "cli/sample_lines.h"
#include "cli/stoppable_run.h"
#include "cli/temporary_folder.h"
#include "cli/terminal.h"

namespace sampan::cli {
namespace {

// A trace holds some hundred events a token, and no more than a million.
constexpr std::size_t kProfiledLines = 16;

struct Command {
  std::vector<std::filesystem::path> packages;
  std::filesystem::path source;
  std::size_t lines = 100;
  std::int64_t length = 0;
  std::size_t rounds = 5;
  bool profile = false;
  ReportFlags report;
  TranslationFlags flags;
};

std::vector<std::string> chosen_lines(const Command& command) {
  std::vector<std::string> lines =
      command.source.empty() ? sample_lines() : read_text(command.source, "--source");
  if (command.lines > 0 && lines.size() > command.lines) lines.resize(command.lines);
  return lines;
}

class BenchRun {
 public:
  explicit BenchRun(const Command& command) : command_(command) {
    Measurement measurement;
    measurement.flags = command.flags;
    measurement.lines = chosen_lines(command);
    if (command.length > 0) measurement.forced_length = command.length;
    report_.lines = measurement.lines.size();
    const auto shared = std::make_shared<const Measurement>(std::move(measurement));
    const std::vector<std::string> names = display_names(command.packages);
    for (std::size_t i = 0; i < names.size(); ++i) {
      BenchedPackage& package = report_.packages.emplace_back();
      package.name = names[i];
      package.folder = command.packages[i];
      package.size = evaluate::package_size(package.folder);
      timed_.emplace_back(package.folder, shared);
      if (command.profile) profiled_.emplace_back(package.folder, shared);
    }
  }

  BenchReport run(const Interrupt& interrupt) && {
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      report_.packages[i].load = timed_[i].load(interrupt);
      timed_[i].translate(report_.lines, interrupt);  // to warm up
    }
    for (std::size_t round = 0; round < command_.rounds; ++round) {
      if (stderr_is_terminal()) print_status(fmt::format("round {}", round + 1));
      for (std::size_t i = 0; i < timed_.size(); ++i)
        report_.packages[i].rounds.push_back(timed_[i].translate(report_.lines, interrupt));
    }
    if (stderr_is_terminal()) print_status("");
    timed_.clear();
    for (std::size_t i = 0; i < profiled_.size(); ++i) {
      const TemporaryFolder traces("sampan-profile");
      report_.packages[i].profile = profiled_[i].profile(kProfiledLines, traces.path(), interrupt);
    }
    report_.machine = describe_machine();
    report_.settings = settings();
    return std::move(report_);
  }

 private:
  std::string settings() const {
    const std::string length = command_.length > 0
                                   ? fmt::format("{} forced tokens a line", command_.length)
                                   : "lines of their own length";
    return fmt::format("{} lines{}, {}, {}; medians of {} round{}", report_.lines,
                       command_.source.empty() ? "" : " of " + command_.source.filename().string(),
                       describe_settings(command_.flags, report_.packages.front().load), length,
                       command_.rounds, command_.rounds == 1 ? "" : "s");
  }

  const Command& command_;
  std::vector<MeasuredPackage> timed_;
  std::vector<MeasuredPackage> profiled_;
  BenchReport report_;
};

void run(const Command& command) {
  command.report.check();
  BenchRun bench(command);
  run_interruptible([&](const Interrupt& interrupt) {
    write_report(command.report, std::move(bench).run(interrupt), interrupt);
  });
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto command = std::make_shared<Command>();
  CLI::App* sub =
      app.add_subcommand("bench", "Speed of packages, measured in turns, and where the time goes");
  sub->add_option("PACKAGE", command->packages, "folders of the packages")->required();
  constexpr const char* kGroup = "Measuring";
  sub->add_option("--source", command->source,
                  "lines to translate; - is standard input; without it some built-in English ones")
      ->type_name("FILE")
      ->group(kGroup);
  sub->add_option("--lines", command->lines, "at most so many lines; 0: all (100)")
      ->type_name("N")
      ->group(kGroup);
  sub->add_option("--length", command->length,
                  "force exactly N tokens from every line; 0: as long as they come (0)")
      ->type_name("N")
      ->check(CLI::Range(0, 10000).description(""))
      ->group(kGroup);
  sub->add_option("--rounds", command->rounds, "rounds after the one that warms up (5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->group(kGroup);
  sub->add_flag("--profile", command->profile,
                "also sum ONNX Runtime's own profile of 16 lines by operator")
      ->group(kGroup);
  command->report.add_to(*sub);
  command->flags.add_language_flag(*sub);
  command->flags.add_text_flags(*sub);
  command->flags.add_batch_flags(*sub);
  command->flags.add_load_flags(*sub);
  command->flags.add_search_flags(*sub);
  sub->callback([command] { run(*command); });
}

}  // namespace sampan::cli
