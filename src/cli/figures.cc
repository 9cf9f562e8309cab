#include "cli/figures.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/fail.h"
#include "base/processor.h"
#include "base/utf8.h"
#include "cli/line_reader.h"
#include "evaluate/machine.h"
#include "sampan/version.h"
#include "session/sequence_model.h"

namespace sampan::cli {

std::string megabytes(std::uintmax_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

double tokens_per_second(const PassFigures& pass) {
  return pass.seconds > 0 ? static_cast<double>(pass.tokens) / pass.seconds : 0.0;
}

std::size_t growth_bytes(const LoadFigures& load, const PassFigures& pass) {
  return pass.peak_bytes - std::min(load.idle_bytes, pass.peak_bytes);
}

std::string describe_machine() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%d}, {}, sampan {}, ONNX Runtime {}", fmt::gmtime(now),
                     evaluate::processor_name(), version(), session::runtime_version());
}

std::string describe_settings(const TranslationFlags& flags, const LoadFigures& load) {
  const int asked = flags.load_options(/*workers=*/1).threads;
  const int threads = asked > 0 ? asked : base::usable_threads();
  const auto counted = [](auto count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, batches of {}", counted(threads, "thread"),
                     load.num_beams == 1 ? "greedy" : counted(load.num_beams, "beam"),
                     load.batch_size);
}

std::vector<std::string> read_text(const std::filesystem::path& file, std::string_view option) {
  const Interrupt interrupt;
  LineReader reader({file}, interrupt);
  std::vector<std::string> lines;
  for (InputLine line; reader.next(line, true) == LineReader::Status::kLine;) {
    base::replace_invalid_utf8(line.text);
    lines.push_back(std::move(line.text));
  }
  if (lines.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}: the file has no lines; {} needs at least one",
               file.string(), option);
  return lines;
}

}  // namespace sampan::cli
