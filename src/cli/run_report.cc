#include "cli/run_report.h"

#include <fmt/format.h>

#include "cli/terminal.h"

namespace sampan::cli {
namespace {

double rate(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

void RunCounts::add(const RunCounts& other) {
  lines += other.lines;
  sentences += other.sentences;
  tokens += other.tokens;
  truncated += other.truncated;
  repeating += other.repeating;
  invalid_utf8 += other.invalid_utf8;
  invalid_utf8_lines += other.invalid_utf8_lines;
}

void RunCounts::add_translation(const Translation& translation) {
  ++lines;
  sentences += translation.sentences.size();
  tokens += translation.tokens.size();
  truncated += translation.truncated ? 1 : 0;
  repeating += translation.repeats ? 1 : 0;
}

std::string closing_line(const RunCounts& counts, std::chrono::duration<double> elapsed) {
  const double seconds = elapsed.count();
  return fmt::format("{}, {}, {} in {:.2f} s ({:.0f} tokens/s); {} truncated, {} repeating",
                     counted(counts.lines, "line"), counted(counts.sentences, "sentence"),
                     counted(counts.tokens, "token"), seconds, rate(counts.tokens, seconds),
                     counts.truncated, counts.repeating);
}

std::string utf8_warning(const RunCounts& counts) {
  if (counts.invalid_utf8 == 0) return "";
  return fmt::format(
      "warning: {} of invalid UTF-8 in {} replaced by U+FFFD; convert the input to UTF-8",
      counted(counts.invalid_utf8, "sequence"), counted(counts.invalid_utf8_lines, "line"));
}

Progress::Progress(bool shown) : shown_(shown) {}

void Progress::show(const RunCounts& counts) {
  if (!shown_ || Clock::now() - last_ < std::chrono::milliseconds(200)) return;
  last_ = Clock::now();
  visible_ = true;
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  print_status(fmt::format("{}, {:.1f} lines/s, {:.0f} tokens/s", counted(counts.lines, "line"),
                           rate(counts.lines, seconds), rate(counts.tokens, seconds)));
}

void Progress::clear() {
  if (!visible_) return;
  print_status("");
  visible_ = false;
}

}  // namespace sampan::cli
