#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/processor.h"
#include "session/runtime.h"
#include "session/sequence_model.h"

namespace sampan::session {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::string_view kProviderSuffix = "ExecutionProvider";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// "CUDAExecutionProvider" -> "CUDA".
std::string_view short_name(std::string_view provider) {
  if (provider.ends_with(kProviderSuffix)) provider.remove_suffix(kProviderSuffix.size());
  return provider;
}

/// The runtime's short name of a provider asked for as "cuda", "CUDA" or "CUDAExecutionProvider".
std::string find_provider(std::string_view wanted, const std::vector<std::string>& available) {
  std::string known;
  for (const std::string& name : available) {
    const std::string_view stem = short_name(name);
    if (lower(stem) == lower(wanted) || lower(name) == lower(wanted)) return std::string(stem);
    known += (known.empty() ? "" : ", ") + lower(stem);
  }
  base::fail(ErrorCode::kUnsupported,
             "execution provider '{}' is not in this ONNX Runtime {}, which has: {}; choose one of "
             "these or install another runtime",
             wanted, runtime_version(), known);
}

void append_provider(Ort::SessionOptions& session, const std::string& name) {
  try {
    if (name == "CUDA") {
      session.AppendExecutionProvider_CUDA(OrtCUDAProviderOptions{});
    } else {
      session.AppendExecutionProvider(name);
    }
  } catch (const Ort::Exception& error) {
    base::fail(ErrorCode::kUnsupported,
               "execution provider '{}' cannot be used ({}); leave it out to run on the processor",
               lower(name), error.what());
  }
}

GraphOptimizationLevel runtime_level(OptimizationLevel level) {
  switch (level) {
    case OptimizationLevel::kDisabled:
      return ORT_DISABLE_ALL;
    case OptimizationLevel::kBasic:
      return ORT_ENABLE_BASIC;
    case OptimizationLevel::kExtended:
      return ORT_ENABLE_EXTENDED;
    case OptimizationLevel::kAll:
      return ORT_ENABLE_ALL;
  }
  return ORT_ENABLE_ALL;
}

}  // namespace

std::vector<std::string> SessionOptions::validate() const {
  std::vector<std::string> problems;
  if (intra_op_threads < 0 || intra_op_threads > kMostThreads)
    problems.push_back(fmt::format("threads is {}; it must lie in 0 (all usable processors) to {}",
                                   intra_op_threads, kMostThreads));
  const int level = static_cast<int>(optimization_level);
  if (level < 0 || level > static_cast<int>(OptimizationLevel::kAll))
    problems.push_back(fmt::format("optimization_level is {}; it must lie in 0 to 3", level));
  for (std::size_t i = 0; i < providers.size(); ++i)
    if (providers[i].empty()) problems.push_back(fmt::format("providers[{}] is empty", i));
  return problems;
}

int intra_op_threads(const SessionOptions& options) {
  return options.intra_op_threads > 0 ? options.intra_op_threads : base::usable_threads();
}

Ort::SessionOptions make_runtime_options(const SessionOptions& options) {
  const std::vector<std::string> problems = options.validate();
  if (!problems.empty())
    base::fail(ErrorCode::kInvalidArgument, "session options: {}", fmt::join(problems, "; "));

  environment();
  Ort::SessionOptions session;
  session.SetIntraOpNumThreads(intra_op_threads(options));
  session.SetInterOpNumThreads(1);
  session.SetExecutionMode(ORT_SEQUENTIAL);
  session.SetGraphOptimizationLevel(runtime_level(options.optimization_level));
  // Memory plans are made for shapes that come again. Here every step has its own: plans cost 20 MB
  // on a model of 7 million parameters and gained nothing.
  session.DisableMemPattern();
  if (options.cpu_memory_arena)
    session.AddConfigEntry("session.use_env_allocators", "1");
  else
    session.DisableCpuMemArena();
  session.AddConfigEntry("session.intra_op.allow_spinning", options.allow_spinning ? "1" : "0");
  if (!options.external_data_folder.empty())
    session.AddConfigEntry("session.model_external_initializers_file_folder_path",
                           options.external_data_folder.c_str());
  if (options.providers.empty()) return session;
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  for (const std::string& wanted : options.providers) {
    const std::string name = find_provider(wanted, available);
    if (name != "CPU") append_provider(session, name);  // the CPU is always there, and last
  }
  return session;
}

}  // namespace sampan::session
