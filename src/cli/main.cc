#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <new>
#include <string>

#include "cli/command.h"
#include "cli/terminal.h"
#include "sampan/error.h"

namespace sampan::cli {
namespace {

int report_usage_error(const CLI::ParseError& error) {
  print_error(std::string(error.what()) + "; see sampan --help");
  return exit_code(ErrorCode::kInvalidArgument);
}

int run(int argc, char** argv) {
  CLI::App app("Translates text with HuggingFace translation models, and packs them as ONNX.");
  app.name("sampan");
  app.require_subcommand(1);
  add_export_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report_usage_error(error);
  }
}

}  // namespace
}  // namespace sampan::cli

int main(int argc, char** argv) {
  using namespace sampan;
  // A closed pipe is an error of write(), which ends the program in order.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return cli::run(argc, argv);
  } catch (const cli::ExitStatus& exit) {
    return exit.status;
  } catch (const Error& error) {
    cli::print_error(error.what());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    cli::print_error("out of memory; close other programs or translate with a smaller batch");
    return exit_code(ErrorCode::kResourceExhausted);
  } catch (const std::exception& error) {
    cli::print_error(std::string("internal fault: ") + error.what() + "; please report it");
    return exit_code(ErrorCode::kInternal);
  }
}
