#pragma once

#include <string_view>

namespace sampan::cli {

/// Writes `text` and a line break to stdout. Throws `Error` when stdout refuses it (a full disk, a
/// closed pipe).
void print_line(std::string_view text);

/// Writes "sampan: error: MESSAGE" to stderr as one line. Red where stderr is a terminal and
/// NO_COLOR is not set. Never throws: there is nowhere left to complain to.
void print_error(std::string_view message) noexcept;

/// Writes "sampan: MESSAGE" to stderr as one line.
void print_note(std::string_view message) noexcept;

/// Replaces the status line at the bottom of a terminal by `text`, "" for none.
void print_status(std::string_view text) noexcept;

/// Whether stderr is a terminal that a person looks at.
bool stderr_is_terminal() noexcept;

}  // namespace sampan::cli
