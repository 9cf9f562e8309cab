#include "evaluate/timed_translation.h"

#include <algorithm>
#include <chrono>

namespace sampan::evaluate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

TimedLoad load_timed(const std::filesystem::path& package, const LoadOptions& options) {
  const Clock::time_point start = Clock::now();
  Translator translator = Translator::load(package, options);
  return {std::move(translator), seconds_since(start)};
}

std::size_t Pass::tokens() const {
  std::size_t count = 0;
  for (const Translation& translation : translations) count += translation.tokens.size();
  return count;
}

Pass translate_timed(const Translator& translator, std::span<const std::string> lines,
                     const TranslateOptions& options) {
  const Clock::time_point start = Clock::now();
  Pass pass;
  pass.translations = translator.translate(lines, options);
  pass.seconds = seconds_since(start);
  return pass;
}

std::vector<double> line_latencies(const Translator& translator, std::span<const std::string> lines,
                                   const TranslateOptions& options, std::size_t most) {
  std::vector<double> seconds;
  for (const std::string& line : spread_evenly(lines, most)) {
    const Pass pass = translate_timed(translator, {&line, 1}, options);
    if (pass.tokens() > 0) seconds.push_back(pass.seconds);
  }
  return seconds;
}

std::vector<std::string> spread_evenly(std::span<const std::string> lines, std::size_t most) {
  const std::size_t count = std::min(lines.size(), most);
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(lines[i * lines.size() / count]);
  return chosen;
}

}  // namespace sampan::evaluate
