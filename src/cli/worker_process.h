#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "cli/interrupt.h"

namespace sampan::cli {

/// A copy of this process that answers requests one by one, so that what it uses of memory is its
/// own. It ends with this process. Not thread-safe.
class WorkerProcess {
 public:
  /// Makes the answer to a request; what it throws is thrown by `ask`.
  using Work = std::function<std::string(std::string_view request)>;

  /// Forks, so no other thread may run yet: make every worker before `SignalWatch`. `name` stands
  /// for the worker in messages. Throws `Error` kResourceExhausted.
  WorkerProcess(std::string name, const Work& work);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  /// Waits for the answer. Throws the worker's `Error`, kResourceExhausted or kInternal if the
  /// worker died, and as `Interrupt::wait`.
  std::string ask(std::string_view request, const Interrupt& interrupt);

 private:
  [[noreturn]] void fail_ended();
  void end() noexcept;

  std::string name_;
  int process_ = -1;  // its id; -1: it has ended
  base::FileDescriptor requests_;
  base::FileDescriptor answers_;
};

}  // namespace sampan::cli
