#include "evaluate/quality.h"

#include <algorithm>

#include "base/fail.h"

namespace sampan::evaluate {

Quality measure_quality(std::span<const Translation> translations,
                        std::span<const std::string> references, BleuTokenizer tokenizer) {
  std::vector<std::string> texts;
  texts.reserve(translations.size());
  Quality quality;
  for (const Translation& translation : translations) {
    texts.push_back(translation.text);
    if (translation.repeats) ++quality.repeating;
    if (translation.truncated) ++quality.truncated;
  }
  quality.bleu = bleu(texts, references, tokenizer);
  quality.chrf2 = chrf(texts, references);
  if (quality.bleu.reference_length > 0)
    quality.length_ratio = static_cast<double>(quality.bleu.hypothesis_length) /
                           static_cast<double>(quality.bleu.reference_length);
  return quality;
}

std::vector<Difference> differences(std::span<const Translation> translations,
                                    std::span<const Translation> baseline) {
  if (translations.size() != baseline.size())
    base::fail(ErrorCode::kInvalidArgument,
               "{} translations but {} of the baseline; translate the same lines with both",
               translations.size(), baseline.size());
  std::vector<Difference> found;
  for (std::size_t line = 0; line < translations.size(); ++line) {
    const auto& ours = translations[line].tokens;
    const auto& theirs = baseline[line].tokens;
    const auto place = std::ranges::mismatch(ours, theirs);
    const bool equal_tokens = place.in1 == ours.end() && place.in2 == theirs.end();
    if (equal_tokens && (!ours.empty() || translations[line].text == baseline[line].text)) continue;
    found.push_back({line, static_cast<std::size_t>(place.in1 - ours.begin())});
  }
  return found;
}

}  // namespace sampan::evaluate
