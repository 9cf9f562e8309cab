#include "session/runtime.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/fail.h"

#if defined(__SANITIZE_ADDRESS__)
// The prebuilt runtime leaks a few bytes for each process; leaks of our own are still reported.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libonnxruntime\n"; }
#endif

namespace sampan::session {
namespace {

void ORT_API_CALL drop_message(void*, OrtLoggingLevel, const char*, const char*, const char*,
                               const char*) {}

/// The runtime's message on one line, without the place in its own sources, short enough to read.
std::string one_line(const char* message) {
  constexpr std::size_t kMost = 300;
  std::string text = message;
  if (const std::size_t place = text.find("/onnxruntime_src/"); place != std::string::npos) {
    const std::size_t end = text.rfind(") ");
    if (end != std::string::npos && end > place) text.replace(place, end + 2 - place, " ");
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

bool mentions(const Ort::Exception& error, std::string_view words) {
  return std::string_view(error.what()).find(words) != std::string_view::npos;
}

bool is_out_of_memory(const Ort::Exception& error) {
  return mentions(error, "Failed to allocate memory") || mentions(error, "bad_alloc");
}

/// Lets all sessions of the process take memory from one arena, rather than each keep its own peak.
void share_arena(Ort::Env& env) {
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  try {
    env.CreateAndRegisterAllocator(memory, nullptr);
  } catch (const Ort::Exception&) {
    // The program around us has made the environment and registered an arena: that one serves too.
  }
}

Ort::Env* make_environment() {
  // The runtime's builds for Linux report to their maker: a thread of theirs collects events in a
  // database, sends them, and may still run while the process ends, in memory that is gone by then.
  // The variable is read when the environment is made; the API's own switch leaves the thread there.
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  auto env = std::make_unique<Ort::Env>(ORT_LOGGING_LEVEL_FATAL, "sampan", drop_message, nullptr);
  share_arena(*env);
  return env.release();
}

}  // namespace

std::string runtime_version() { return OrtGetApiBase()->GetVersionString(); }

Ort::Env& environment() {
  if (OrtGetApiBase()->GetApi(ORT_API_VERSION) == nullptr)
    base::fail(ErrorCode::kIncompatible,
               "ONNX Runtime {} is too old, this program needs 1.{} or later; install a newer "
               "libonnxruntime",
               runtime_version(), ORT_API_VERSION);
  // Never destroyed: models in static objects may outlive everything else.
  static Ort::Env* const kEnvironment = make_environment();
  return *kEnvironment;
}

void fail_to_load(std::string_view file, const Ort::Exception& error) {
  const std::string message = one_line(error.what());
  if (is_out_of_memory(error))
    base::fail(
        ErrorCode::kResourceExhausted,
        "{}: not enough memory to load the graph ({}); free memory or take a quantised package",
        file, message);
  if (error.GetOrtErrorCode() == ORT_NO_SUCHFILE)
    base::fail(ErrorCode::kNotFound,
               "{}: the graph or its data file cannot be read ({}); export "
               "the package again",
               file, message);
  if (mentions(error, "Unsupported model IR version") ||
      mentions(error, "is under development and support for this is limited") ||
      error.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED)
    base::fail(
        ErrorCode::kIncompatible,
        "{}: ONNX Runtime {} cannot run this graph ({}); use a newer runtime or export with a "
        "lower opset",
        file, runtime_version(), message);
  base::fail(ErrorCode::kInvalidData,
             "{}: ONNX Runtime {} refuses the graph ({}); the file is damaged, export the package "
             "again",
             file, runtime_version(), message);
}

void fail_to_run(std::string_view file, const Ort::Exception& error) {
  const std::string message = one_line(error.what());
  if (is_out_of_memory(error))
    base::fail(ErrorCode::kResourceExhausted,
               "{}: not enough memory for this batch ({}); translate fewer sentences at once", file,
               message);
  if (mentions(error, "out of data bounds"))
    base::fail(
        ErrorCode::kInvalidArgument,
        "{}: a token is not in the vocabulary of the model ({}); tokenizer and graphs of the "
        "package do not belong together",
        file, message);
  base::fail(ErrorCode::kInternal,
             "{}: ONNX Runtime {} failed to run the graph ({}); try a lower optimisation level or "
             "export the package again",
             file, runtime_version(), message);
}

}  // namespace sampan::session
