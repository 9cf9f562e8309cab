#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace sampan::cli {

/// Everything that decides what a run writes, by name: options and the package's digest.
using RunSettings = std::map<std::string, std::string>;

/// What was done between two checkpoints.
struct Checkpoint {
  std::size_t lines = 0;      ///< of input, since the checkpoint before
  std::uint64_t bytes = 0;    ///< of output, since the start
  std::string source_sha256;  ///< of those input lines, each with "\n"

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// A small file beside an unfinished output that says how far it is good and what it was made from:
/// a JSON object with the settings in its first line, then one JSON object a checkpoint.
/// Not thread-safe. Members throw `Error`: kInvalidData, and what the system says.
class ResumeJournal {
 public:
  /// A new journal, in place of any that is there.
  static ResumeJournal create(const std::filesystem::path& path, const RunSettings& settings);
  /// Opens a journal to go on with. A last line that was cut off is left out.
  static ResumeJournal open(const std::filesystem::path& path);

  const RunSettings& settings() const { return settings_; }
  const std::vector<Checkpoint>& checkpoints() const { return checkpoints_; }

  /// Forgets the checkpoints after the first `count`.
  void keep(std::size_t count);
  /// Appends a checkpoint and waits until the disk has it.
  void append(const Checkpoint& checkpoint);

 private:
  explicit ResumeJournal(std::filesystem::path path) : path_(std::move(path)) {}
  void write_line(const std::string& line);
  void parse_line(const std::string& line);

  std::filesystem::path path_;
  base::FileDescriptor file_;
  RunSettings settings_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<std::uint64_t> ends_;  // of the settings' line and of each checkpoint's, in bytes
};

}  // namespace sampan::cli
