#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measured_package.h"

/// How `evaluate` and `bench` say what they measured, and on what.
namespace sampan::cli {

/// "29.9 MB"; a megabyte is a million bytes.
std::string megabytes(std::uintmax_t bytes);

double tokens_per_second(const PassFigures& pass);
/// What loading and translating added to the resident memory of the idle program.
std::size_t growth_bytes(const LoadFigures& load, const PassFigures& pass);

/// "2026-12-01, AMD EPYC 9B14, sampan 0.1.0, ONNX Runtime 1.30.0".
std::string describe_machine();
/// "1 thread, 4 beams, batches of 32", of the flags and what came of them.
std::string describe_settings(const TranslationFlags& flags, const LoadFigures& load);

/// The lines of a file, or of standard input for "-"; broken UTF-8 is replaced. Throws `Error` as
/// `LineReader`, and kInvalidArgument for a file without lines.
std::vector<std::string> read_text(const std::filesystem::path& file, std::string_view option);

}  // namespace sampan::cli
