#pragma once

#include <onnxruntime_cxx_api.h>

#include <string_view>

#include "session/sequence_model.h"

/// The process-wide side of ONNX Runtime: its environment, options and errors.
namespace sampan::session {

/// The one environment of this process. Its messages go nowhere: what fails is thrown. Throws
/// kIncompatible if the library is older than the headers this was built with.
Ort::Env& environment();

/// The threads that the options ask for, or that this process may use.
int intra_op_threads(const SessionOptions& options);

/// Checked options as the runtime takes them. Throws kInvalidArgument for options that do not
/// validate and kUnsupported for a provider that this runtime does not have, naming those it has.
Ort::SessionOptions make_runtime_options(const SessionOptions& options);

/// Throws the `Error` for a graph that could not be loaded: "FILE: ...; next step".
[[noreturn]] void fail_to_load(std::string_view file, const Ort::Exception& error);

/// Throws the `Error` for a graph that was loaded and could not be run.
[[noreturn]] void fail_to_run(std::string_view file, const Ort::Exception& error);

}  // namespace sampan::session
