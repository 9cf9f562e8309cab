#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sampan::tune {

/// The lines of a text file, without their ends. Throws `Error`: kNotFound, kPermissionDenied,
/// kResourceExhausted (more than 64 MiB).
std::vector<std::string> read_lines(const std::filesystem::path& file);

/// Sources and their references, line by line.
struct ParallelText {
  std::vector<std::string> sources;
  std::vector<std::string> references;
};

/// Throws also kInvalidArgument when the files do not have equally many lines, or fewer than 20.
ParallelText read_parallel_text(const std::filesystem::path& sources,
                                const std::filesystem::path& references);

/// Every second pair from `first` (0 or 1) on.
ParallelText half_of(const ParallelText& text, std::size_t first);

}  // namespace sampan::tune
