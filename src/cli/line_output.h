#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "cli/interrupt.h"

namespace sampan::cli {

/// Some finished lines of output, and the input lines they belong to.
struct OutputBlock {
  std::string bytes;      ///< complete lines
  std::string source;     ///< the input lines, each with "\n"; for telling whether an input changed
  std::size_t lines = 0;  ///< of input
};

/// Where finished lines go. Not thread-safe.
class LineOutput {
 public:
  virtual ~LineOutput() = default;
  /// Throws `Error` as `write_fully` does.
  virtual void write(const OutputBlock& block) = 0;
  /// Ends the output that is complete.
  virtual void finish() = 0;
};

/// Writes to an open descriptor as its reader takes it; a stop of the run lets go of a reader that
/// has stopped reading, and of no other. Throws `ClosedPipe`, or `Error`: kResourceExhausted (no
/// space), kCancelled, kDeadlineExceeded, what the system says of the write.
void write_fully(int descriptor, std::string_view bytes, const std::filesystem::path& shown_as,
                 const Interrupt& interrupt);

/// Standard output, or an open file, pipe or device that is no regular file.
class StreamOutput : public LineOutput {
 public:
  /// Standard output.
  explicit StreamOutput(const Interrupt& interrupt);
  StreamOutput(base::FileDescriptor file, std::filesystem::path path, const Interrupt& interrupt);

  void write(const OutputBlock& block) override;
  void finish() override;

 private:
  base::FileDescriptor file_;
  int descriptor_;
  std::filesystem::path shown_as_;
  const Interrupt& interrupt_;
};

/// Opens a pipe or device that exists already and can only be written to as it is. Throws `Error`:
/// kInvalidArgument (a folder, or an output to be resumed), what the system says of the open.
std::unique_ptr<LineOutput> open_special_output(const std::filesystem::path& path, bool resume,
                                                const Interrupt& interrupt);

}  // namespace sampan::cli
