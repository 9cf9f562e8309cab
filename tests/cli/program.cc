#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace sampan::cli {
namespace {

struct Pipe {
  base::FileDescriptor read;
  base::FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  return {base::FileDescriptor(ends[0]), base::FileDescriptor(ends[1])};
}

std::string read_some(int descriptor, std::size_t most) {
  std::string bytes(most, '\0');
  ssize_t count = -1;
  do count = ::read(descriptor, bytes.data(), most);
  while (count < 0 && errno == EINTR);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

std::string read_all(int descriptor) {
  std::string bytes;
  while (true) {
    const std::string part = read_some(descriptor, 65536);
    if (part.empty()) return bytes;
    bytes += part;
  }
}

}  // namespace

Program::Program(std::vector<std::string> arguments, const ProgramOptions& options) {
  arguments.insert(arguments.begin(), SAMPAN_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  if (!options.output_path.empty())
    out.write = base::FileDescriptor(
        ::open(options.output_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ == 0) {
    ::dup2(in.read.get(), STDIN_FILENO);
    ::dup2(out.write.get(), STDOUT_FILENO);
    ::dup2(err.write.get(), STDERR_FILENO);
    if (options.closed_stream >= 0) ::close(options.closed_stream);
    // A sanitizer's own remarks do not belong to what the program says.
    ::setenv("LSAN_OPTIONS", "print_suppressions=0", 1);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(SAMPAN_PROGRAM, argv.data());
    ::_exit(127);
  }
  ::signal(SIGPIPE, SIG_IGN);
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  error_reader_ =
      std::thread([this, errors = std::move(err.read)] { errors_ = read_all(errors.get()); });
}

Program::~Program() {
  if (process_ < 0) return;
  send(SIGKILL);
  wait();
}

void Program::write_input(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(input_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // the program has read enough
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string Program::read_output(std::size_t bytes) {
  std::string output;
  while (output.size() < bytes) {
    const std::string part =
        read_some(output_.get(), std::min<std::size_t>(bytes - output.size(), 65536));
    if (part.empty()) break;
    output += part;
  }
  return output;
}

void Program::send(int signal) const { ::kill(process_, signal); }

std::size_t Program::peak_memory() const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") {
      std::size_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  return 0;
}

std::vector<int> Program::children() const {
  const std::string id = std::to_string(process_);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<int> ids;
  for (int child = 0; file >> child;) ids.push_back(child);
  return ids;
}

Outcome Program::wait() {
  Outcome outcome;
  if (output_.is_open()) outcome.out = read_all(output_.get());
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  error_reader_.join();
  outcome.err = std::move(errors_);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Outcome run_program(std::vector<std::string> arguments, const ProgramOptions& options) {
  Program program(std::move(arguments), options);
  std::thread writer([&] {
    program.write_input(options.input);
    program.close_input();
  });
  const std::string output = options.output_path.empty() ? program.read_output(SIZE_MAX) : "";
  writer.join();
  Outcome outcome = program.wait();
  outcome.out = output + outcome.out;
  return outcome;
}

std::string test_package() { return SAMPAN_TEST_PACKAGE; }

}  // namespace sampan::cli
