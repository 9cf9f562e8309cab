#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "cli/command.h"
#include "cli/optimizer_flags.h"
#include "cli/stoppable_run.h"
#include "cli/terminal.h"
#include "sampan/optimizer.h"

namespace sampan::cli {
namespace {

struct OptimizeArguments {
  std::filesystem::path package;
  std::filesystem::path output;
  std::string target = "ort-cpu";
  OptimizeOptions options;
  bool verbose = false;
};

void run_optimize(OptimizeArguments& arguments) {
  if (arguments.verbose) arguments.options.report = print_note;
  run_until_signal([&](const std::stop_token& stop) {
    arguments.options.stop = stop;
    optimize_package(arguments.package, arguments.output, arguments.options);
  });
}

}  // namespace

void add_optimize_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("optimize", "Write the form of a package that runs fastest");
  const auto arguments = std::make_shared<OptimizeArguments>();
  command->add_option("PACKAGE", arguments->package, "fp32 package that sampan exported")
      ->required();
  command->add_option("--output,-o", arguments->output, "Package folder to write")->required();
  command->add_option("--target", arguments->target, "What runs it: ONNX Runtime on the processor")
      ->check(CLI::IsMember({"ort-cpu"}))
      ->capture_default_str();
  const std::map<std::string, OptimizedWeights> schemes = {{"fp32", OptimizedWeights::kFloat32},
                                                           {"int8", OptimizedWeights::kInt8},
                                                           {"int4", OptimizedWeights::kInt4}};
  command->add_option("--scheme", arguments->options.weights, "Bits of the weights")
      ->transform(CLI::CheckedTransformer(schemes))
      ->default_str("fp32");
  add_purpose_flag(
      *command, arguments->options.optimized_for,
      "int8: latency, for a few sentences at a time, or throughput, for many (latency)");
  command->add_flag("--force,-f", arguments->options.force,
                    "Replace a package that is already at the output path");
  command->add_flag("--verbose,-v", arguments->verbose, "Tell what is written");
  command->callback([arguments] { run_optimize(*arguments); });
}

}  // namespace sampan::cli
