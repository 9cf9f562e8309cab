#pragma once

#include <CLI/CLI.hpp>

#include "sampan/quantizer.h"

namespace sampan::cli {

/// Adds the options of the schemes with operators of ai.onnx alone: how weights are rounded, and
/// the text that activations are measured on.
void add_portable_scheme_flags(CLI::App& command, QuantizeOptions& options);

}  // namespace sampan::cli
