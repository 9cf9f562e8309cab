#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/file_descriptor.h"
#include "base/system_error.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/json_line.h"
#include "cli/line_output.h"
#include "cli/line_reader.h"
#include "cli/ordered_pipeline.h"
#include "cli/resumable_output.h"
#include "cli/run_report.h"
#include "cli/signal_watch.h"
#include "cli/terminal.h"
#include "cli/translation_flags.h"
#include "sampan/translator.h"

namespace sampan::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Lines = std::vector<InputLine>;

// Lines are sorted by length within a chunk, so it holds several batches.
constexpr std::size_t kBatchesInChunk = 4;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr double kLongestDeadline = 1e9;  // seconds; a clock of nanoseconds holds nine times that

struct Command {
  std::filesystem::path package;
  std::vector<std::filesystem::path> files;
  std::filesystem::path output;
  bool output_given = false;
  TranslationFlags flags;
  std::size_t workers = 1;
  std::optional<double> deadline_seconds;
  bool resume = false;
  bool json = false;
  bool stream = false;
  bool quiet = false;
};

struct TranslatedChunk {
  OutputBlock block;
  RunCounts counts;
};

void check_flags(const Command& command) {
  if (command.output_given && command.output.empty())
    base::fail(ErrorCode::kInvalidArgument, "--output is empty; name a file");
  if (!command.output.empty() && std::filesystem::is_directory(base::status_of(command.output)))
    base::fail(ErrorCode::kInvalidArgument, "{}: is a folder; give a file",
               command.output.string());
  if (command.resume && command.output.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "--resume continues an output file; name it with --output");
  if (command.stream && !command.json)
    base::fail(ErrorCode::kInvalidArgument, "--stream writes JSON lines; add --json");
  if (command.stream && (command.workers > 1 || !command.output.empty()))
    base::fail(ErrorCode::kInvalidArgument,
               "--stream writes to standard output as one worker translates; leave --workers and "
               "--output out");
  // NaN fails both comparisons.
  if (const auto& seconds = command.deadline_seconds;
      seconds && !(*seconds > 0 && *seconds <= kLongestDeadline))
    base::fail(ErrorCode::kInvalidArgument,
               "--deadline is {}; it must be above 0 and at most {:.0f} seconds", *seconds,
               kLongestDeadline);
}

// A name that is wrong should not be found out after hours of work on the names before it.
void check_inputs(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    if (file == "-") continue;
    const std::filesystem::file_status status = base::status_of(file);
    if (std::filesystem::is_directory(status))
      base::fail(ErrorCode::kInvalidArgument, "{}: is a folder; give a file", file.string());
    if (!std::filesystem::is_fifo(status)) base::FileDescriptor::open_for_reading(file);
  }
}

Interrupt::Deadline deadline_of(const Command& command) {
  if (!command.deadline_seconds) return {};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(*command.deadline_seconds));
}

// Somebody who types the lines sees the answers, and wants nothing between the two.
bool progress_wanted(const Command& command) {
  const bool typed = command.files.empty() && ::isatty(STDIN_FILENO) == 1;
  return !command.quiet && !typed && stderr_is_terminal();
}

class TranslateRun {
 public:
  TranslateRun(const Command& command, Interrupt& interrupt)
      : command_(command),
        interrupt_(interrupt),
        translator_(Translator::load(command.package, command.flags.load_options(command.workers))),
        options_(command.flags.options(translator_)),
        results_on_terminal_(command.output.empty() && ::isatty(STDOUT_FILENO) == 1),
        progress_(progress_wanted(command)) {
    options_.stop = interrupt.stop_token();
    options_.deadline = interrupt.deadline();
    check_options();
  }

  void run() {
    LineReader reader(command_.files, interrupt_);
    open_output(reader);
    OrderedPipeline<Lines, TranslatedChunk> pipeline(
        command_.workers, {.work = [this](Lines lines) { return translate(std::move(lines)); },
                           .consume = [this](TranslatedChunk chunk) { write(std::move(chunk)); },
                           .on_failure = [this] { interrupt_.request_stop(); }});
    read_all(reader, pipeline);
    pipeline.finish();
    output_->finish();
  }

  bool has_results() const { return counts_.lines > 0; }

  void report() {
    progress_.clear();
    if (command_.quiet) return;
    if (const std::string warning = utf8_warning(counts_); !warning.empty()) print_note(warning);
    print_note(closing_line(counts_, Clock::now() - start_));
  }

 private:
  void check_options() {
    if (options_.generation.num_return_sequences > 1 && !command_.json)
      base::fail(ErrorCode::kInvalidArgument,
                 "--num-return-sequences {} gives several translations of a line; add --json",
                 options_.generation.num_return_sequences);
    // A call without text finds what only the loaded package can tell is wrong.
    TranslateOptions options = options_;
    if (command_.stream) options.on_token = [](std::size_t, std::string_view) {};
    translator_.translate(std::vector<std::string>{}, options);
  }

  void open_output(LineReader& reader) {
    if (command_.output.empty()) {
      output_ = std::make_unique<StreamOutput>(interrupt_);
      return;
    }
    const std::filesystem::file_status status = base::status_of(command_.output);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      output_ = open_special_output(command_.output, command_.resume, interrupt_);
      return;
    }
    RunSettings settings = run_settings(options_);
    settings["json"] = command_.json ? "true" : "false";
    settings["package"] = package_digest(command_.package);
    auto file =
        std::make_unique<ResumableOutput>(command_.output, settings, command_.resume, interrupt_);
    const std::size_t done = file->skip_done_lines(reader);
    if (done > 0 && !command_.quiet) print_note(fmt::format("resuming after {} lines", done));
    output_ = std::move(file);
  }

  void read_all(LineReader& reader, OrderedPipeline<Lines, TranslatedChunk>& pipeline) {
    bool more = true;
    while (more && pipeline.wait_for_room()) {
      Lines chunk;
      try {
        more = read_chunk(reader, chunk);
      } catch (...) {
        // What was read before the failure is still translated and written.
        if (!chunk.empty()) pipeline.submit(std::move(chunk));
        pipeline.finish();
        throw;
      }
      if (!chunk.empty()) pipeline.submit(std::move(chunk));
    }
  }

  // Takes what is there, up to a chunk; waits only for the first line. False at the end.
  bool read_chunk(LineReader& reader, Lines& chunk) {
    const std::size_t most_lines = options_.batch_size * kBatchesInChunk;
    std::size_t bytes = 0;
    while (chunk.size() < most_lines && bytes < kChunkBytes) {
      InputLine line;
      const LineReader::Status status = reader.next(line, chunk.empty());
      if (status == LineReader::Status::kEnd) return false;
      if (status == LineReader::Status::kNotReady) return true;
      bytes += line.text.size();
      chunk.push_back(std::move(line));
    }
    return true;
  }

  TranslatedChunk translate(Lines lines) {
    TranslatedChunk result;
    std::vector<std::string> texts;
    for (InputLine& line : lines) {
      result.block.source += line.text;
      result.block.source += '\n';
      const std::size_t replaced = base::replace_invalid_utf8(line.text);
      result.counts.invalid_utf8 += replaced;
      result.counts.invalid_utf8_lines += replaced > 0 ? 1 : 0;
      texts.push_back(std::move(line.text));
    }
    const std::vector<std::vector<Translation>> translations = candidates(texts);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      result.counts.add_translation(translations[i].front());
      if (command_.json) {
        result.block.bytes += translation_json(texts[i], translations[i]) + "\n";
      } else {
        result.block.bytes += translations[i].front().text;
        result.block.bytes += lines[i].ending;
      }
    }
    result.block.lines = lines.size();
    return result;
  }

  std::vector<std::vector<Translation>> candidates(const std::vector<std::string>& texts) {
    TranslateOptions options = options_;
    if (command_.stream) {
      const std::size_t first = streamed_lines_ + 1;
      streamed_lines_ += texts.size();
      options.on_token = [this, first](std::size_t text, std::string_view piece) {
        output_->write({piece_json(first + text, piece) + "\n", "", 0});
      };
    }
    if (options.generation.num_return_sequences > 1)
      return translator_.translate_n_best(texts, options);
    std::vector<std::vector<Translation>> results;
    for (Translation& translation : translator_.translate(texts, options))
      results.emplace_back().push_back(std::move(translation));
    return results;
  }

  void write(TranslatedChunk chunk) {
    if (results_on_terminal_) progress_.clear();
    output_->write(chunk.block);
    counts_.add(chunk.counts);
    progress_.show(counts_);
  }

  const Command& command_;
  Interrupt& interrupt_;
  Clock::time_point start_ = Clock::now();
  Translator translator_;
  TranslateOptions options_;
  std::unique_ptr<LineOutput> output_;
  std::size_t streamed_lines_ = 0;
  bool results_on_terminal_;
  RunCounts counts_;
  Progress progress_;
};

// Ends as the signal says, once what was finished is written and counted.
[[noreturn]] void end_by_signal(int signal) { throw ExitStatus{die_by_signal(signal)}; }

void run(const Command& command) {
  check_flags(command);
  check_inputs(command.files);
  Interrupt interrupt(deadline_of(command));
  SignalWatch signals(interrupt);
  std::unique_ptr<TranslateRun> translation;
  try {
    translation = std::make_unique<TranslateRun>(command, interrupt);
    translation->run();
    translation->report();
  } catch (const ClosedPipe&) {
    translation->report();
    translation.reset();
    end_by_signal(SIGPIPE);
  } catch (...) {
    if (translation && translation->has_results()) translation->report();
    translation.reset();
    if (const int signal = signals.received()) {
      print_note(fmt::format("stopped by {}; what was finished is written", strsignal(signal)));
      end_by_signal(signal);
    }
    throw;
  }
}

}  // namespace

void add_translate_command(CLI::App& app) {
  auto command = std::make_shared<Command>();
  CLI::App* sub = app.add_subcommand("translate", "Translate lines of text with a package");
  sub->add_option("PACKAGE", command->package, "folder of the package")->type_name("")->required();
  sub->add_option("FILE", command->files, "files to translate; none or - is standard input")
      ->type_name("");
  constexpr const char* kGroup = "Input and output";
  sub->add_option("--output,-o", command->output,
                  "write to FILE, which appears when it is complete")
      ->each([command](const std::string&) { command->output_given = true; })
      ->type_name("FILE")
      ->group(kGroup);
  sub->add_flag("--resume", command->resume, "continue an interrupted --output")->group(kGroup);
  sub->add_flag("--json", command->json, "write one JSON object a line")->group(kGroup);
  sub->add_flag("--stream", command->stream, "with --json: also an object for each token at once")
      ->group(kGroup);
  sub->add_flag("--quiet,-q", command->quiet, "no progress, warnings and closing line")
      ->group(kGroup);
  sub->add_option("--workers", command->workers, "batches translated side by side (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->group("Running");
  sub->add_option("--deadline", command->deadline_seconds, "end the run after SECONDS")
      ->type_name("SECONDS")
      ->group("Running");
  command->flags.add_language_flag(*sub);
  command->flags.add_text_flags(*sub);
  command->flags.add_batch_flags(*sub);
  command->flags.add_load_flags(*sub);
  command->flags.add_search_flags(*sub);
  sub->callback([command] { run(*command); });
}

}  // namespace sampan::cli
