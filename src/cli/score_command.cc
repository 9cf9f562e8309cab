#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/json_line.h"
#include "cli/line_output.h"
#include "cli/line_reader.h"
#include "cli/stoppable_run.h"
#include "cli/terminal.h"
#include "cli/translation_flags.h"
#include "sampan/translator.h"

namespace sampan::cli {
namespace {

constexpr std::size_t kPairsAtATime = 128;

struct Command {
  std::filesystem::path package;
  std::filesystem::path source;
  std::filesystem::path target;
  TranslationFlags flags;
  bool json = false;
};

struct Pairs {
  std::vector<std::string> sources;
  std::vector<std::string> targets;
};

// Reads the next pairs, none at the end of both files.
Pairs read_pairs(LineReader& sources, LineReader& targets, std::size_t done) {
  Pairs pairs;
  InputLine line;
  while (pairs.sources.size() < kPairsAtATime) {
    const bool source = sources.next(line, true) == LineReader::Status::kLine;
    if (source) pairs.sources.push_back(line.text);
    const bool target = targets.next(line, true) == LineReader::Status::kLine;
    if (target) pairs.targets.push_back(line.text);
    if (source != target)
      base::fail(ErrorCode::kInvalidArgument,
                 "the {} goes on after line {}, where the {} ends; give one target for each source",
                 source ? "source" : "target",
                 done + (source ? pairs.targets : pairs.sources).size(),
                 source ? "target" : "source");
    if (!source) break;
  }
  return pairs;
}

std::string plain_line(const Translator::TargetScore& score) {
  const double total = std::accumulate(score.log_probs.begin(), score.log_probs.end(), 0.0);
  return fmt::format("{:.4f}\t{:.4f}", total, fmt::join(score.log_probs, " "));
}

void score(const Command& command, const Interrupt& interrupt) {
  const Translator translator =
      Translator::load(command.package, command.flags.load_options(/*workers=*/1));
  TranslateOptions options = command.flags.options(translator);
  options.stop = interrupt.stop_token();
  LineReader sources({command.source}, interrupt);
  LineReader targets({command.target}, interrupt);
  StreamOutput output(interrupt);
  std::size_t done = 0;
  while (true) {
    const Pairs pairs = read_pairs(sources, targets, done);
    if (pairs.sources.empty()) break;
    done += pairs.sources.size();
    const auto scores = translator.score(pairs.sources, pairs.targets, options);
    OutputBlock block;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      block.bytes += command.json ? score_json(pairs.sources[i], pairs.targets[i], scores[i])
                                  : plain_line(scores[i]);
      block.bytes += '\n';
    }
    output.write(block);
  }
  output.finish();
}

void run(const Command& command) {
  if (command.source == "-" && command.target == "-")
    base::fail(ErrorCode::kInvalidArgument,
               "--source and --target are both standard input; name a file for one");
  run_interruptible([&](const Interrupt& interrupt) { score(command, interrupt); });
}

}  // namespace

void add_score_command(CLI::App& app) {
  auto command = std::make_shared<Command>();
  CLI::App* sub = app.add_subcommand(
      "score", "Print the log-probabilities of given translations: sum, tab, each token's");
  sub->add_option("PACKAGE", command->package, "folder of the package")->type_name("")->required();
  sub->add_option("--source", command->source, "source sentences, one a line; - is standard input")
      ->type_name("FILE")
      ->required();
  sub->add_option("--target", command->target, "their translations, one a line")
      ->type_name("FILE")
      ->required();
  sub->add_flag("--json", command->json, "write one JSON object a line");
  command->flags.add_language_flag(*sub);
  command->flags.add_batch_flags(*sub);
  command->flags.add_load_flags(*sub);
  sub->callback([command] { run(*command); });
}

}  // namespace sampan::cli
