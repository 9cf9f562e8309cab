#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/system_error.h"
#include "cli/command.h"

namespace sampan::cli {
namespace {

// Line breaks inside a message (from a path, say) would make two lines of one error, and other
// control characters would command the terminal; those of ISO 6429's second set are C2 80 to C2 9F.
void append_as_one_line(std::string& line, std::string_view message) {
  unsigned char before = 0;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t')
      line += ' ';
    else if (byte < 0x20 || byte == 0x7F || (before == 0xC2 && byte >= 0x80 && byte < 0xA0))
      line += fmt::format("\\x{:02x}", byte);
    else
      line += c;
    before = byte;
  }
}

void write_to_stderr(std::string_view line) noexcept {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool colour_wanted() noexcept {
  const char* no_color = std::getenv("NO_COLOR");
  return stderr_is_terminal() && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

void print_line(std::string_view text) {
  std::string line(text);
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw ClosedPipe{};
    if (written < 0) base::fail_with_errno(errno, "write", "standard output");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void print_error(std::string_view message) noexcept {
  try {
    const bool colour = colour_wanted();
    std::string line = "sampan: ";
    line += colour ? "\x1b[1;31merror:\x1b[0m " : "error: ";
    append_as_one_line(line, message);
    line += '\n';
    write_to_stderr(line);
  } catch (...) {
    write_to_stderr("sampan: error: out of memory\n");
  }
}

void print_note(std::string_view message) noexcept {
  try {
    std::string line = "sampan: ";
    append_as_one_line(line, message);
    line += '\n';
    write_to_stderr(line);
  } catch (...) {
    write_to_stderr("sampan: out of memory\n");
  }
}

void print_status(std::string_view text) noexcept {
  write_to_stderr("\r\x1b[K");
  write_to_stderr(text);
}

bool stderr_is_terminal() noexcept { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace sampan::cli
