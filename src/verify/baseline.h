#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sampan/translator.h"
#include "text/tokenizer.h"
#include "verify/report.h"

namespace sampan::verify {

/// One recorded translation.
struct BaselineLine {
  std::string source;
  std::string translation;
  std::optional<std::vector<std::int64_t>> tokens;  ///< nothing: only the text was recorded
  std::optional<double> score;
  bool split_sentences = true;  ///< whether the recording read the source sentence by sentence
};

/// Reads recorded translations, one JSON object a line: what `sampan translate --json` writes, or
/// tools/record_transformers.py. Unknown members are passed over. `file` is what messages name.
/// Throws `Error` kInvalidData that names file, line and value; kInvalidArgument where there is no
/// line at all.
std::vector<BaselineLine> parse_baseline(std::string_view content,
                                         const std::filesystem::path& file);
/// Throws also as `base::MappedFile` does.
std::vector<BaselineLine> read_baseline(const std::filesystem::path& file);

/// Two translations whose scores are nearer than this are as good as each other: which of them is
/// found is decided by how a runtime rounds, and no fault.
inline constexpr double kEqualScores = 1e-4;

struct BaselineInput {
  const Translator& translator;
  const text::Tokenizer& tokenizer;  ///< the package's, to spell tokens
  std::span<const BaselineLine> lines;
  /// Share of lines, rounded down to whole ones, that may be translated otherwise than recorded.
  double different_lines = 0.0;
  std::string target_language;  ///< as `TranslateOptions` has it
  std::function<void(std::string_view)> progress;
  std::stop_token stop;
};

struct BaselineFindings {
  Check check;                              ///< "baseline"
  std::vector<LineDifference> differences;  ///< of every line that differs, equal scores included
};

/// Translates the recorded sources with the package's generation defaults and compares line by
/// line: tokens where they were recorded, else texts. What keeps the package from translating is a
/// failed check. Throws `Error` kCancelled.
BaselineFindings check_baseline(const BaselineInput& input);

}  // namespace sampan::verify
