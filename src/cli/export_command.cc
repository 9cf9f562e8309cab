#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/stoppable_run.h"
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
  if (arguments.verbose) arguments.options.report = print_note;
  run_until_signal([&](const std::stop_token& stop) {
    arguments.options.stop = stop;
    export_checkpoint(arguments.checkpoint, arguments.output, arguments.options);
  });
}

PackageLayout layout_named(const std::string& name) {
  if (name == "shared") return PackageLayout::kShared;
  if (name == "separate") return PackageLayout::kSeparate;
  base::fail(ErrorCode::kInvalidArgument, "--layout is '{}'; it must be shared or separate", name);
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write the ONNX package of a checkpoint folder");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("CHECKPOINT", arguments->checkpoint, "folder of a HuggingFace checkpoint")
      ->type_name("")
      ->required();
  command->add_option("--output,-o", arguments->output, "package folder to write")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option("--opset", arguments->options.opset,
                   "version of the ai.onnx operator set, 14 to 18 (17)")
      ->type_name("N")
      ->check(CLI::Range(14, 18).description(""));
  command
      ->add_option_function<std::string>(
          "--layout",
          [arguments](const std::string& name) { arguments->options.layout = layout_named(name); },
          "shared: each weight once, in one data file; separate: every graph complete in itself, "
          "in a folder onnx/ (shared)")
      ->type_name("shared|separate");
  command->add_flag("--force,-f", arguments->options.force,
                    "replace a package that is already at the output path");
  command->add_flag("--verbose,-v", arguments->verbose, "tell layer by layer what became what");
  command->callback([arguments] { run_export(*arguments); });
}

}  // namespace sampan::cli
