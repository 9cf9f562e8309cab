#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "cli/interrupt.h"

namespace sampan::cli {

/// A line of the input.
struct InputLine {
  /// Without its ending, and without a byte order mark at the start of a file; any bytes.
  std::string text;
  /// "\n", "\r\n", or "" for a last line without a line break.
  std::string_view ending;
};

/// Reads the lines of files one after another; "-" is standard input. The last line of a file that
/// lacks its line break does not run into the next file. Holds little more than the longest line.
/// Not thread-safe.
class LineReader {
 public:
  enum class Status { kLine, kNotReady, kEnd };

  /// No file at all means standard input.
  LineReader(std::vector<std::filesystem::path> files, const Interrupt& interrupt);

  /// Gives the next line. Without `may_wait` a line that a pipe or terminal has not delivered yet
  /// is kNotReady. Throws `Error`: kNotFound, kPermissionDenied, what the system says of a read,
  /// and what `Interrupt::wait` throws.
  Status next(InputLine& line, bool may_wait);

 private:
  bool take_line(InputLine& line);
  void take_rest(InputLine& line, std::string_view ending);
  Status fill(bool may_wait);
  void open_next();
  void end_file();
  void pass_byte_order_mark();
  std::string_view pending() const { return std::string_view(buffer_).substr(begin_); }

  std::vector<std::filesystem::path> files_;
  const Interrupt& interrupt_;
  std::size_t next_file_ = 0;
  base::FileDescriptor opened_;
  int descriptor_ = -1;    // of the file being read; -1: none
  bool at_start_ = false;  // of that file, where a byte order mark may stand
  std::string buffer_;     // bytes read; those before begin_ were given already
  std::size_t begin_ = 0;
  std::size_t searched_ = 0;  // from begin_ to here there is no line break
  // The last line of a file that lacks its line break waits to see whether more follows.
  std::optional<std::string> rest_;
};

}  // namespace sampan::cli
