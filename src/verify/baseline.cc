#include "verify/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/printable.h"

namespace sampan::verify {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLinesAtATime = 64;
constexpr std::size_t kMostDepth = 16;

/// Refuses what no recording holds while it is parsed, before it takes memory or stack.
bool is_shallow(int depth, Json::parse_event_t, Json&) {
  return static_cast<std::size_t>(depth) <= kMostDepth;
}

class LineParser {
 public:
  LineParser(const std::filesystem::path& file, std::size_t number)
      : file_(file), number_(number) {}

  BaselineLine parse(std::string_view text) const {
    const Json json = parse_json(text);
    if (!json.is_object()) refuse("is not a JSON object", text);
    BaselineLine line;
    line.source = text_of(json, "source");
    line.translation = text_of(json, "translation");
    if (const auto tokens = json.find("tokens"); tokens != json.end())
      line.tokens = tokens_of(*tokens);
    if (const auto score = json.find("score"); score != json.end()) {
      if (!score->is_number()) refuse("has a score that is no number", score->dump());
      line.score = score->get<double>();
    }
    if (const auto split = json.find("split"); split != json.end()) {
      if (!split->is_boolean()) refuse("has a 'split' that is not true or false", split->dump());
      line.split_sentences = split->get<bool>();
    }
    return line;
  }

 private:
  [[noreturn]] void refuse(std::string_view problem, std::string_view value) const {
    base::fail(ErrorCode::kInvalidData,
               "{}: line {} {}: '{}'; record it with `sampan translate --json` or "
               "record_transformers.py",
               file_.string(), number_, problem, base::printable(value));
  }

  Json parse_json(std::string_view text) const {
    try {
      return Json::parse(text, is_shallow);
    } catch (const Json::exception&) {
      refuse("is not JSON", text);
    }
  }

  std::string text_of(const Json& json, const char* name) const {
    const auto value = json.find(name);
    if (value == json.end() || !value->is_string())
      refuse(fmt::format("has no text '{}'", name), json.dump(-1, ' ', true));
    return value->get<std::string>();
  }

  std::vector<std::int64_t> tokens_of(const Json& value) const {
    std::vector<std::int64_t> tokens;
    if (!value.is_array()) refuse("has tokens that are no list", value.dump(-1, ' ', true));
    for (const Json& token : value) {
      if (!token.is_number_integer())
        refuse("has a token that is no whole number", token.dump(-1, ' ', true));
      tokens.push_back(token.get<std::int64_t>());
    }
    return tokens;
  }

  const std::filesystem::path& file_;
  std::size_t number_;
};

bool equal(const Translation& found, const BaselineLine& line) {
  return line.tokens ? found.tokens == *line.tokens : found.text == line.translation;
}

std::string spell(const std::vector<std::int64_t>& tokens, std::size_t place,
                  const text::Tokenizer& tokenizer) {
  if (place >= tokens.size()) return "nothing";
  const std::vector<std::string> piece =
      tokenizer.target_pieces(std::span(tokens).subspan(place, 1));
  return fmt::format("{} '{}'", tokens[place], piece.empty() ? "" : piece.front());
}

LineDifference difference_of(std::size_t number, const Translation& found, const BaselineLine& line,
                             const text::Tokenizer& tokenizer) {
  LineDifference difference;
  difference.line = number;
  difference.source = line.source;
  difference.found = found.text;
  difference.recorded = line.translation;
  difference.equal_scores = line.score && std::abs(found.score - *line.score) < kEqualScores;
  if (!line.tokens) return difference;
  const auto [ours, theirs] = std::ranges::mismatch(found.tokens, *line.tokens);
  const auto place = static_cast<std::size_t>(ours - found.tokens.begin());
  difference.token = place + 1;
  difference.found_token = spell(found.tokens, place, tokenizer);
  difference.recorded_token = spell(*line.tokens, place, tokenizer);
  return difference;
}

/// Lines that were recorded the same way are translated together.
std::vector<Translation> translate(const BaselineInput& input,
                                   std::span<const BaselineLine> lines) {
  std::vector<Translation> found(lines.size());
  for (const bool split : {true, false}) {
    std::vector<std::size_t> places;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].split_sentences == split) {
        places.push_back(i);
        texts.push_back(lines[i].source);
      }
    if (texts.empty()) continue;
    TranslateOptions options = input.translator.default_options();
    options.split_sentences = split;
    options.target_language = input.target_language;
    options.stop = input.stop;
    std::vector<Translation> translations = input.translator.translate(texts, options);
    for (std::size_t i = 0; i < places.size(); ++i) found[places[i]] = std::move(translations[i]);
  }
  return found;
}

Check judge(std::size_t lines, const std::vector<LineDifference>& differences, double allowed) {
  const auto is_fault = [](const LineDifference& difference) { return !difference.equal_scores; };
  const auto faults = std::ranges::count_if(differences, is_fault);
  std::string detail = fmt::format("of {} lines are not as recorded", lines);
  if (const auto ties = static_cast<std::ptrdiff_t>(differences.size()) - faults; ties > 0)
    detail += fmt::format(", {} more differ with an equal score", ties);
  if (faults > 0)
    detail +=
        fmt::format("; the first is line {}", std::ranges::find_if(differences, is_fault)->line);
  return limited("baseline", static_cast<double>(faults),
                 std::floor(allowed * static_cast<double>(lines)), std::move(detail));
}

}  // namespace

std::vector<BaselineLine> parse_baseline(std::string_view content,
                                         const std::filesystem::path& file) {
  std::vector<BaselineLine> lines;
  std::size_t number = 0;
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view text = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    ++number;
    if (text.find_first_not_of(" \t\r") != std::string_view::npos)
      lines.push_back(LineParser(file, number).parse(text));
  }
  if (lines.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "{}: holds no recorded line; record it with `sampan translate --json`",
               file.string());
  return lines;
}

std::vector<BaselineLine> read_baseline(const std::filesystem::path& file) {
  const base::MappedFile mapped(file);
  const auto bytes = mapped.bytes();
  return parse_baseline({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

BaselineFindings check_baseline(const BaselineInput& input) {
  BaselineFindings findings;
  try {
    for (std::size_t done = 0; done < input.lines.size();) {
      const auto lines =
          input.lines.subspan(done, std::min(kLinesAtATime, input.lines.size() - done));
      const std::vector<Translation> found = translate(input, lines);
      for (std::size_t i = 0; i < lines.size(); ++i)
        if (!equal(found[i], lines[i]))
          findings.differences.push_back(
              difference_of(done + i + 1, found[i], lines[i], input.tokenizer));
      done += lines.size();
      if (input.progress)
        input.progress(fmt::format("baseline: {} of {} lines", done, input.lines.size()));
    }
    findings.check = judge(input.lines.size(), findings.differences, input.different_lines);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    findings.check = failed("baseline", error.what());
  }
  return findings;
}

}  // namespace sampan::verify
