#pragma once

namespace CLI {
class App;
}

namespace sampan::cli {

// One function a subcommand, each in its own file. It adds the subcommand and its options to `app`
// and sets the callback that runs it while the command line is parsed. A callback throws `Error` to
// end the program with that error's line and exit code, or `ExitStatus` to end it silently.

/// Ends the program with this status without a further word.
struct ExitStatus {
  int status = 0;
};

/// The reader of an output stream went away.
struct ClosedPipe {};

void add_bench_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_quantize_command(CLI::App& app);
void add_optimize_command(CLI::App& app);
void add_score_command(CLI::App& app);
void add_translate_command(CLI::App& app);
void add_verify_command(CLI::App& app);

}  // namespace sampan::cli
