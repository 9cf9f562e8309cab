#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/optimizer_flags.h"
#include "cli/portable_scheme_flags.h"
#include "cli/sample_lines.h"
#include "cli/stoppable_run.h"
#include "cli/terminal.h"
#include "sampan/machine_choice.h"
#include "sampan/quantizer.h"
#include "tune/text_lines.h"

namespace sampan::cli {
namespace {

struct QuantizeArguments {
  std::filesystem::path package;
  std::filesystem::path output;
  QuantizeOptions options;
  bool automatic = false;           // the scheme is chosen by measuring
  std::optional<double> most_loss;  // for the automatic choice
  bool quiet = false;
};

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

void print_summary(const QuantizeSummary& summary) {
  print_note(
      fmt::format("graphs and weights {:.1f} -> {:.1f} MB, package {:.1f} -> {:.1f} MB",
                  megabytes(summary.graph_bytes_before), megabytes(summary.graph_bytes_after),
                  megabytes(summary.package_bytes_before), megabytes(summary.package_bytes_after)));
  constexpr std::size_t kMostNames = 8;
  const std::size_t shown = std::min(summary.kept_float.size(), kMostNames);
  for (const QuantizeSummary::FloatWeight& weight : std::span(summary.kept_float).first(shown))
    print_note(fmt::format("stayed fp32: {} ({:.2f} MB)", weight.name, megabytes(weight.bytes)));
  if (shown < summary.kept_float.size())
    print_note(fmt::format("stayed fp32: {} more", summary.kept_float.size() - shown));
}

/// Lines of the text that a user names, else some that are built in.
std::vector<std::string> lines_to_measure(const std::filesystem::path& text) {
  constexpr std::size_t kMostLines = 64;
  if (text.empty()) return sample_lines();
  std::vector<std::string> lines = tune::read_lines(text);
  std::erase_if(lines, [](const std::string& line) {
    return line.find_first_not_of(" \t\r") == std::string::npos;
  });
  lines.resize(std::min(lines.size(), kMostLines));
  if (lines.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}: has no text to measure on; name another file",
               text.string());
  return lines;
}

void print_choice(const MachineChoice& choice) {
  for (const MachineTrial& trial : choice.trials)
    print_note(fmt::format(
        "{}: {:.0f} tokens/s, graphs and weights {:.1f} MB, loses {:.3f} nats a token, {:.0f} % of "
        "the lines as fp32",
        trial.name, trial.tokens_per_second, megabytes(trial.graph_bytes), trial.loss,
        100.0 * trial.same_lines));
  print_note(fmt::format("chosen: {}", choice.trials[choice.chosen].name));
}

void run_automatic(const QuantizeArguments& arguments) {
  QuantizeOptions checked = arguments.options;  // what does not go with this target is refused
  checked.target = QuantizationTarget::kOrtCpu;
  checked.calibration.clear();
  const std::vector<std::string> problems = checked.validate();
  if (!problems.empty())
    base::fail(ErrorCode::kInvalidArgument, "--scheme auto: {}", problems.front());
  MachineChoiceOptions options;
  options.optimized_for = arguments.options.optimized_for;
  options.texts = lines_to_measure(arguments.options.calibration);
  options.most_loss = arguments.most_loss.value_or(options.most_loss);
  options.force = arguments.options.force;
  if (!arguments.quiet) options.report = print_note;
  run_until_signal([&](const std::stop_token& stop) {
    options.stop = stop;
    const MachineChoice choice =
        optimize_for_this_machine(arguments.package, arguments.output, options);
    if (!arguments.quiet) print_choice(choice);
  });
}

void run_quantize(QuantizeArguments& arguments) {
  if (arguments.automatic) return run_automatic(arguments);
  if (arguments.most_loss)
    base::fail(ErrorCode::kInvalidArgument,
               "--most-loss is {}, which goes with --scheme auto alone; leave it out, or limit the "
               "loss of BLEU with --max-bleu-loss",
               *arguments.most_loss);
  if (!arguments.quiet) arguments.options.report = print_note;
  run_until_signal([&](const std::stop_token& stop) {
    arguments.options.stop = stop;
    const QuantizeSummary summary =
        quantize_package(arguments.package, arguments.output, arguments.options);
    if (!arguments.quiet) print_summary(summary);
  });
}

constexpr std::pair<std::string_view, QuantizationScheme> kSchemes[] = {
    {"int8", QuantizationScheme::kInt8},
    {"int4", QuantizationScheme::kInt4},
    {"dynamic-int8", QuantizationScheme::kDynamicInt8},
    {"static-int8", QuantizationScheme::kStaticInt8},
    {"fp16", QuantizationScheme::kFp16},
};

QuantizationScheme scheme_named(const std::string& name) {
  std::string known;
  for (const auto& [known_name, scheme] : kSchemes) {
    if (known_name == name) return scheme;
    known += (known.empty() ? "" : ", ") + std::string(known_name);
  }
  base::fail(ErrorCode::kInvalidArgument, "--scheme is '{}'; it must be one of {}, auto", name,
             known);
}

void add_weight_options(CLI::App& command, QuantizeOptions& options) {
  command
      .add_option(
          "--block-size", options.block_size,
          "weights that share a scale: 16, 32, 64, 128 or 256; small ones are closer to the "
          "original and larger (128)")
      ->type_name("N");
  command.add_flag("--asymmetric", options.asymmetric, "a zero point for each block");
  command.add_flag("--gptq", options.gptq,
                   "with int4 or int8, and --calibration: compensate rounding errors for real "
                   "inputs, if that lowers the loss on held text");
  command
      .add_option("--keep-float", options.keep_float,
                  "weights whose name has a match of this regular expression stay fp32")
      ->type_name("REGEX");
  command
      .add_option("--keep-int8", options.keep_int8,
                  "with int4: weights whose name has a match of this one are stored in 8 bits")
      ->type_name("REGEX");
}

void add_search_options(CLI::App& command, QuantizeOptions& options) {
  command
      .add_option("--max-bleu-loss", options.max_bleu_loss,
                  "search the smallest package that loses at most so much BLEU on half of a text")
      ->type_name("X");
  command.add_option("--source", options.source, "for the search: sentences, one a line")
      ->type_name("FILE");
  command.add_option("--reference", options.reference, "for the search: their translations")
      ->type_name("FILE");
}

}  // namespace

void add_quantize_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("quantize", "Write a smaller package from an fp32 one");
  const auto arguments = std::make_shared<QuantizeArguments>();
  command->add_option("PACKAGE", arguments->package, "fp32 package folder")
      ->type_name("")
      ->required();
  command->add_option("--output,-o", arguments->output, "package folder to write")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option_function<std::string>(
          "--scheme",
          [arguments](const std::string& name) {
            arguments->automatic = name == "auto";
            if (!arguments->automatic) arguments->options.scheme = scheme_named(name);
          },
          "int8, int4: weights in blocks of that many bits, activations in fp32; dynamic-int8, "
          "static-int8: 8 bits with ONNX's own operators, for other loaders; fp16: for "
          "accelerators; auto: the fastest for this machine, by a short measurement")
      ->type_name("NAME")
      ->required();
  command
      ->add_option_function<std::string>(
          "--target",
          [arguments](const std::string& name) {
            arguments->options.target =
                name == "ort-cpu" ? QuantizationTarget::kOrtCpu : QuantizationTarget::kPortable;
          },
          "portable: the same graphs; ort-cpu: graphs made for ONNX Runtime on the processor "
          "(portable)")
      ->check(CLI::IsMember({"portable", "ort-cpu"}).description(""))
      ->type_name("NAME");
  add_purpose_flag(
      *command, arguments->options.optimized_for,
      "with ort-cpu and int8, and with auto: latency, for a few sentences at a time, or "
      "throughput, for many (latency)");
  command
      ->add_option("--most-loss", arguments->most_loss,
                   "with auto: most that may be lost, in nats a token of fp32's translations (0.1)")
      ->type_name("X");
  add_weight_options(*command, arguments->options);
  add_search_options(*command, arguments->options);
  add_portable_scheme_flags(*command, arguments->options);
  command->add_flag("--force,-f", arguments->options.force,
                    "replace a package that is already at the output path");
  command->add_flag("--quiet,-q", arguments->quiet,
                    "say nothing of what was written and checked, and what stayed fp32");
  command->callback([arguments] { run_quantize(*arguments); });
}

}  // namespace sampan::cli
