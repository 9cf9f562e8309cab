#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"

namespace sampan::cli {

// How a program ended and what it said.
struct Outcome {
  int status = -1;  // exit code, or 128 + the signal that ended it, as a shell shows it
  std::string out;
  std::string err;
};

struct ProgramOptions {
  std::string input = {};        // all of standard input
  std::string output_path = {};  // standard output goes to this file instead of `Outcome::out`
  std::map<std::string, std::string> environment = {};  // beside the test's own
  int closed_stream = -1;  // one of 0, 1, 2 that the program starts without
};

// The program under test as a child process, with pipes to its streams.
class Program {
 public:
  // `arguments` follow the program's name. The input stays open until `close_input`.
  Program(std::vector<std::string> arguments, const ProgramOptions& options);
  ~Program();

  void write_input(std::string_view bytes);
  void close_input() { input_.close(); }
  // Waits for this many bytes of output, or its end.
  std::string read_output(std::size_t bytes);
  void close_output() { output_.close(); }
  void send(int signal) const;
  // Peak resident set in bytes so far.
  std::size_t peak_memory() const;
  // Ids of the processes that it started and that still run.
  std::vector<int> children() const;
  // Waits for the end, without closing the input; `out` is what was not read before.
  Outcome wait();

 private:
  pid_t process_ = -1;
  base::FileDescriptor input_;
  base::FileDescriptor output_;
  std::string errors_;
  std::thread error_reader_;
};

Outcome run_program(std::vector<std::string> arguments, const ProgramOptions& options = {});

// The test package, exported from the bundled checkpoint.
std::string test_package();

}  // namespace sampan::cli
