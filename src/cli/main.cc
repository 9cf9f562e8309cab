#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include "base/processor.h"
#include "base/system_error.h"
#include "cli/command.h"
#include "cli/signal_watch.h"
#include "cli/terminal.h"
#include "sampan/error.h"
#include "sampan/version.h"
#include "session/sequence_model.h"

namespace sampan::cli {
namespace {

// A standard stream that was closed must not become the next file that is opened: reading or
// writing it fails then, as it should.
void reserve_standard_streams() {
  for (const auto& [stream, opposite] :
       {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}})
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", opposite);
}

std::string describe_build() {
  const std::string features = base::processor_features();
  return fmt::format("sampan {}\nONNX Runtime {}\nprocessor: {}\nthreads: {}", version(),
                     session::runtime_version(), features.empty() ? "unknown" : features,
                     base::usable_threads());
}

// The parser's own words, with the place to look at. Of a word that is no subcommand it says only
// that there is none.
int report_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string where = "sampan";
  for (const CLI::App* sub : app.get_subcommands()) where += " " + sub->get_name();
  std::string problem = error.what();
  if (const auto unknown = app.remaining(); app.get_subcommands().empty() && !unknown.empty())
    problem = fmt::format("there is no subcommand or option '{}'", unknown.front());
  print_error(fmt::format("{}; see {} --help", problem, where));
  return exit_code(ErrorCode::kInvalidArgument);
}

// The parser's text without the blank lines that it doubles and ends with.
std::string help_of(const CLI::App& app) {
  std::string help = app.help();
  for (std::size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;) help.erase(at, 1);
  help.erase(help.find_last_not_of('\n') + 1);
  return help;
}

int run(int argc, char** argv) {
  CLI::App app("Translates text with HuggingFace translation models, and packs them as ONNX.");
  app.name("sampan");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", describe_build,
                       "show the versions of sampan and its runtime, and the processor's features");
  app.footer(
      "Examples:\n"
      "  sampan export opus-mt-en-zh --output opus-mt-en-zh-onnx\n"
      "  echo \"Good morning.\" | sampan translate opus-mt-en-zh-onnx\n"
      "\n"
      "sampan SUBCOMMAND --help lists a subcommand's options.");
  add_export_command(app);
  add_quantize_command(app);
  add_optimize_command(app);
  add_translate_command(app);
  add_score_command(app);
  add_verify_command(app);
  add_evaluate_command(app);
  add_bench_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& answer) {
    print_line(answer.what());
  } catch (const CLI::Success&) {
    print_line(help_of(app));
  } catch (const CLI::ParseError& error) {
    return report_usage_error(app, error);
  }
  return 0;
}

}  // namespace
}  // namespace sampan::cli

int main(int argc, char** argv) {
  using namespace sampan;
  // A closed pipe and a file at its size limit are errors of write(), which end the program in
  // order.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  cli::reserve_standard_streams();
  try {
    return cli::run(argc, argv);
  } catch (const cli::ExitStatus& exit) {
    return exit.status;
  } catch (const cli::ClosedPipe&) {
    return cli::die_by_signal(SIGPIPE);
  } catch (const Error& error) {
    cli::print_error(error.what());
    return exit_code(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    cli::print_error(
        fmt::format("{}: {}; check the path", error.path1().string(), error.code().message()));
    return exit_code(base::error_code_of_errno(error.code().value()));
  } catch (const std::bad_alloc&) {
    cli::print_error("out of memory; close other programs or translate with a smaller batch");
    return exit_code(ErrorCode::kResourceExhausted);
  } catch (const std::exception& error) {
    cli::print_error(std::string("internal fault: ") + error.what() + "; please report it");
    return exit_code(ErrorCode::kInternal);
  }
}
