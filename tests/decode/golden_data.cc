#include "decode/golden_data.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "decode/generation_config_json.h"
#include "support/folders.h"

namespace sampan::decode {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/decode";
constexpr std::size_t kTatoebaLines = 1000;
constexpr std::size_t kShortLines = 50;  // of each corpus

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream stream(kData / file);
  if (!stream) throw std::runtime_error("missing golden file " + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

template <typename Number>
std::vector<Number> numbers_of(const std::string& text) {
  std::vector<Number> numbers;
  std::istringstream stream(text);
  for (Number number; stream >> number;) numbers.push_back(number);
  return numbers;
}

std::vector<GoldenHypothesis> hypotheses_of(const std::string& line) {
  std::vector<GoldenHypothesis> hypotheses;
  for (const std::string& part : split(line, '|')) {
    const std::vector<std::string> fields = split(part, ';');
    GoldenHypothesis hypothesis{numbers_of<std::int64_t>(fields.at(0)), std::nullopt};
    if (fields.size() > 1) hypothesis.score = std::stod(fields[1]);
    hypotheses.push_back(std::move(hypothesis));
  }
  return hypotheses;
}

nlohmann::json settings() {
  std::ifstream stream(kData / "settings.json");
  return nlohmann::json::parse(stream);
}

std::size_t line_number(std::size_t index, bool all_lines) {
  return all_lines || index < kShortLines ? index : kTatoebaLines + index - kShortLines;
}

}  // namespace

std::vector<std::string> golden_names(bool all_lines) {
  std::vector<std::string> names;
  const nlohmann::json all = settings();
  for (const auto& [name, setting] : all.items()) {
    if ((setting["lines"] == "all") == all_lines) names.push_back(name);
  }
  return names;
}

GoldenSetting golden_setting(const std::string& name) {
  const nlohmann::json entry = settings().at(name);
  const bool all_lines = entry["lines"] == "all";
  const std::string config = entry["config"].dump();
  GoldenSetting setting{name, parse_generation_config({name, config, std::nullopt}), {}};
  const std::vector<std::string> sources = lines_of("sources.ids");
  const std::vector<std::string> targets = lines_of(name + ".ids");
  std::vector<std::string> prefixes;
  if (name.ends_with("_prefix")) prefixes = lines_of("prefix.ids");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    GoldenLine line{line_number(i, all_lines), {}, hypotheses_of(targets[i])};
    line.input.source = numbers_of<std::int64_t>(sources.at(line.number));
    if (!prefixes.empty()) line.input.prefix = numbers_of<std::int64_t>(prefixes.at(i));
    setting.lines.push_back(std::move(line));
  }
  return setting;
}

std::vector<GoldenScore> golden_scores() {
  const std::vector<std::string> sources = lines_of("sources.ids");
  std::vector<GoldenScore> scores;
  for (const std::string& line : lines_of("target_scores.txt")) {
    const std::vector<std::string> fields = split(line, ';');
    GoldenScore score;
    score.input.source = numbers_of<std::int64_t>(sources.at(scores.size()));
    score.target = numbers_of<std::int64_t>(fields.at(0));
    score.log_probs = numbers_of<float>(fields.at(1));
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace sampan::decode
