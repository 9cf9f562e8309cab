#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/signal_watch.h"
#include "cli/terminal.h"
#include "sampan/exporter.h"

namespace sampan::cli {
namespace {

struct ExportArguments {
  std::filesystem::path checkpoint;
  std::filesystem::path output;
  ExportOptions options;
  bool verbose = false;
};

void run_export(ExportArguments& arguments) {
  Interrupt interrupt;
  SignalWatch signals(interrupt);
  arguments.options.stop = interrupt.stop_token();
  if (arguments.verbose) arguments.options.report = print_note;
  try {
    export_checkpoint(arguments.checkpoint, arguments.output, arguments.options);
  } catch (const Error& error) {
    const int signal = signals.received();
    if (error.code() != ErrorCode::kCancelled || signal == 0) throw;
    print_note(fmt::format("stopped by {}; nothing was written", strsignal(signal)));
    throw ExitStatus{die_by_signal(signal)};
  }
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write the ONNX package of a checkpoint folder");
  const auto arguments = std::make_shared<ExportArguments>();
  const std::map<std::string, PackageLayout> layouts = {{"shared", PackageLayout::kShared},
                                                        {"separate", PackageLayout::kSeparate}};
  command->add_option("CHECKPOINT", arguments->checkpoint, "HuggingFace checkpoint folder")
      ->required();
  command->add_option("--output,-o", arguments->output, "Package folder to write")->required();
  command->add_option("--opset", arguments->options.opset, "Version of the ai.onnx operator set")
      ->check(CLI::Range(14, 18))
      ->capture_default_str();
  command
      ->add_option("--layout", arguments->options.layout,
                   "shared: each weight once, in one data file; separate: every graph complete in "
                   "itself, in a folder onnx/")
      ->transform(CLI::CheckedTransformer(layouts))
      ->default_str("shared");
  command->add_flag("--force,-f", arguments->options.force,
                    "Replace a package that is already at the output path");
  command->add_flag("--verbose,-v", arguments->verbose, "Tell layer by layer what became what");
  command->callback([arguments] { run_export(*arguments); });
}

}  // namespace sampan::cli
