// Runs a command and prints its wall time and peak resident memory:
//
//   sampan_measure COMMAND [ARGUMENT...]    ->    0.412 s  96 MB
//
// The command's own output goes to standard error. The exit code is the command's.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("sampan_measure COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    std::perror("sampan_measure");
    return 2;
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.3f s  %ld MB\n", elapsed.count(), usage.ru_maxrss / 1024);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
