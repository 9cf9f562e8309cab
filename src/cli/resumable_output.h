#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "base/sha256.h"
#include "cli/interrupt.h"
#include "cli/line_output.h"
#include "cli/line_reader.h"
#include "cli/resume_journal.h"

namespace sampan::cli {

/// An output file that appears whole or not at all, and that a later run can continue.
///
/// Lines go to FILE.partial; about once a second FILE.partial.journal notes how far it is good.
/// `finish` renames FILE.partial to FILE. An object that is destroyed before leaves both files for
/// a later run, unless nothing was written. Not thread-safe; two runs cannot write one FILE.
class ResumableOutput : public LineOutput {
 public:
  /// Starts anew, or, with `resume`, where an interrupted run ended if there is one. Throws
  /// `Error`: kAlreadyExists (an unfinished output is there and `resume` is off, or another run
  /// writes it), kInvalidArgument (it was made with other settings), kInvalidData (its journal is
  /// damaged), kNotFound, kPermissionDenied, kResourceExhausted.
  ResumableOutput(const std::filesystem::path& file, const RunSettings& settings, bool resume,
                  const Interrupt& interrupt);
  ~ResumableOutput() override;

  /// Reads past the lines that an interrupted run has done; their number. Throws `Error`
  /// kInvalidArgument if they are not the lines that it read, and as the reader does.
  std::size_t skip_done_lines(LineReader& reader);

  void write(const OutputBlock& block) override;
  void finish() override;

 private:
  void start(const RunSettings& settings);
  void resume(const RunSettings& settings);
  void checkpoint();

  std::filesystem::path file_;
  std::filesystem::path partial_;
  std::filesystem::path journal_path_;
  const Interrupt& interrupt_;
  base::FileDescriptor descriptor_;
  std::optional<ResumeJournal> journal_;
  base::Sha256 source_;  // of the lines since the last checkpoint
  Checkpoint since_;
  std::chrono::steady_clock::time_point last_checkpoint_;
  bool finished_ = false;
};

}  // namespace sampan::cli
