#include "cli/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/fail.h"

namespace sampan::cli {
namespace {

// A message is its kind, its length and its bytes.
struct Header {
  std::int32_t kind = 0;  // kAnswer, or the code of an error whose message follows
  std::uint64_t length = 0;
};
constexpr std::int32_t kAnswer = -1;

using WaitUntilReady = std::function<void()>;

bool write_all(int descriptor, const void* bytes, std::size_t size) {
  const char* rest = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::write(descriptor, rest, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rest += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool read_all(int descriptor, void* bytes, std::size_t size, const WaitUntilReady& wait) {
  char* rest = static_cast<char*>(bytes);
  while (size > 0) {
    wait();
    const ssize_t count = ::read(descriptor, rest, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rest += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool send(int descriptor, std::int32_t kind, std::string_view text) {
  Header header;
  header.kind = kind;
  header.length = text.size();
  return write_all(descriptor, &header, sizeof(header)) &&
         write_all(descriptor, text.data(), text.size());
}

std::optional<std::pair<std::int32_t, std::string>> receive(int descriptor,
                                                            const WaitUntilReady& wait) {
  Header header;
  if (!read_all(descriptor, &header, sizeof(header), wait)) return {};
  std::string text(header.length, '\0');
  if (!read_all(descriptor, text.data(), text.size(), wait)) return {};
  return std::pair(header.kind, std::move(text));
}

std::int32_t code(ErrorCode error) { return static_cast<std::int32_t>(error); }

// What the worker answers: false when nobody listens any more.
bool answer(int descriptor, const WorkerProcess::Work& work, std::string_view request) {
  try {
    return send(descriptor, kAnswer, work(request));
  } catch (const Error& error) {
    return send(descriptor, code(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return send(descriptor, code(ErrorCode::kResourceExhausted),
                "out of memory; close other programs or take a smaller batch");
  } catch (const std::exception& error) {
    return send(descriptor, code(ErrorCode::kInternal), error.what());
  }
}

[[noreturn]] void serve(int requests, int answers, const WorkerProcess::Work& work) {
  // The keys that end a program reach both processes: the one that asks decides.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  while (const auto request = receive(requests, [] {}))
    if (!answer(answers, work, request->second)) break;
  ::_exit(0);
}

struct Pipe {
  base::FileDescriptor read;
  base::FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    base::fail(ErrorCode::kResourceExhausted, "cannot make a pipe ({}); close other programs",
               std::strerror(errno));
  return {base::FileDescriptor(ends[0]), base::FileDescriptor(ends[1])};
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, const Work& work) : name_(std::move(name)) {
  Pipe request = make_pipe();
  Pipe reply = make_pipe();
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0)
    base::fail(ErrorCode::kResourceExhausted,
               "{}: cannot start a process for it ({}); close other programs", name_,
               std::strerror(errno));
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    request.write.close();
    reply.read.close();
    serve(request.read.get(), reply.write.get(), work);
  }
  requests_ = std::move(request.write);
  answers_ = std::move(reply.read);
}

WorkerProcess::~WorkerProcess() { end(); }

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : name_(std::move(other.name_)),
      process_(std::exchange(other.process_, -1)),
      requests_(std::move(other.requests_)),
      answers_(std::move(other.answers_)) {}

std::string WorkerProcess::ask(std::string_view request, const Interrupt& interrupt) {
  if (!send(requests_.get(), 0, request)) fail_ended();
  auto reply = receive(answers_.get(), [&] { interrupt.wait(answers_.get(), POLLIN); });
  if (!reply) fail_ended();
  if (reply->first != kAnswer)
    throw Error(static_cast<ErrorCode>(reply->first), std::move(reply->second));
  return std::move(reply->second);
}

// A worker holds nothing that outlives it, so it is simply ended.
void WorkerProcess::end() noexcept {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

void WorkerProcess::fail_ended() {
  int status = 0;
  const pid_t process = std::exchange(process_, -1);
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    base::fail(ErrorCode::kResourceExhausted,
               "{}: the system ended the process that translated with it, most likely for want of "
               "memory; free memory or take a smaller batch",
               name_);
  base::fail(ErrorCode::kInternal,
             "{}: the process that translated with it ended early ({}); please report it", name_,
             WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : "without a word");
}

}  // namespace sampan::cli
