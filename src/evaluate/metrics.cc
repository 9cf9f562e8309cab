#include "evaluate/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/utf8.h"
#include "sampan/version.h"

namespace sampan::evaluate {
namespace {

/// Matches of the n-grams of one order, summed over the corpus.
struct Matches {
  std::int64_t hypothesis = 0;
  std::int64_t reference = 0;
  std::int64_t matched = 0;  ///< each n-gram at most as often as the reference has it
};

/// n-grams of a sequence of words or characters, counted.
template <typename Sequence>
std::map<Sequence, std::int64_t> count_ngrams(const Sequence& sequence, std::size_t order) {
  std::map<Sequence, std::int64_t> counts;
  for (std::size_t i = 0; i + order <= sequence.size(); ++i) {
    const auto first = sequence.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[Sequence(first, first + static_cast<std::ptrdiff_t>(order))];
  }
  return counts;
}

template <typename Sequence>
Matches match_ngrams(const Sequence& hypothesis, const Sequence& reference, std::size_t order) {
  const auto theirs = count_ngrams(reference, order);
  Matches matches;
  for (const auto& [ngram, count] : count_ngrams(hypothesis, order)) {
    matches.hypothesis += count;
    const auto place = theirs.find(ngram);
    if (place != theirs.end()) matches.matched += std::min(count, place->second);
  }
  for (const auto& [ngram, count] : theirs) matches.reference += count;
  return matches;
}

void check_sizes(std::size_t hypotheses, std::size_t references) {
  if (hypotheses != references)
    base::fail(ErrorCode::kInvalidArgument,
               "{} translations but {} references; give one reference a line", hypotheses,
               references);
}

}  // namespace

Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
          BleuTokenizer tokenizer) {
  check_sizes(hypotheses.size(), references.size());
  Bleu result;
  std::array<Matches, 4> orders;
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    const auto ours = tokenize(hypotheses[line], tokenizer);
    const auto theirs = tokenize(references[line], tokenizer);
    result.hypothesis_length += static_cast<std::int64_t>(ours.size());
    result.reference_length += static_cast<std::int64_t>(theirs.size());
    for (std::size_t n = 0; n < orders.size(); ++n) {
      const Matches matches = match_ngrams(ours, theirs, n + 1);
      orders[n].hypothesis += matches.hypothesis;
      orders[n].matched += matches.matched;
    }
  }
  if (result.hypothesis_length < result.reference_length)
    result.brevity_penalty =
        result.hypothesis_length == 0
            ? 0.0
            : std::exp(1.0 - static_cast<double>(result.reference_length) /
                                 static_cast<double>(result.hypothesis_length));
  if (std::all_of(orders.begin(), orders.end(), [](const Matches& m) { return m.matched == 0; }))
    return result;

  double smoothing = 1.0, log_sum = 0.0;
  for (std::size_t n = 0; n < orders.size(); ++n) {
    if (orders[n].hypothesis == 0) return result;  // no translation is n words long: BLEU is 0
    double matched = static_cast<double>(orders[n].matched);
    if (orders[n].matched == 0) matched = 1.0 / (smoothing *= 2.0);
    result.precisions[n] = 100.0 * matched / static_cast<double>(orders[n].hypothesis);
    log_sum += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(log_sum / static_cast<double>(orders.size()));
  return result;
}

double chrf(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  check_sizes(hypotheses.size(), references.size());
  constexpr double kBetaSquared = 4.0;
  std::array<Matches, 6> orders;
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    std::u32string ours = base::code_points(hypotheses[line]);
    std::u32string theirs = base::code_points(references[line]);
    std::erase_if(ours, is_white_space);
    std::erase_if(theirs, is_white_space);
    for (std::size_t n = 0; n < orders.size(); ++n) {
      const Matches matches = match_ngrams(ours, theirs, n + 1);
      if (matches.reference > 0) orders[n].hypothesis += matches.hypothesis;
      orders[n].reference += matches.reference;
      orders[n].matched += matches.matched;
    }
  }
  double precision = 0.0, recall = 0.0;
  int used = 0;
  for (const Matches& matches : orders) {
    if (matches.hypothesis == 0 || matches.reference == 0) continue;
    precision += static_cast<double>(matches.matched) / static_cast<double>(matches.hypothesis);
    recall += static_cast<double>(matches.matched) / static_cast<double>(matches.reference);
    ++used;
  }
  if (used == 0 || precision + recall == 0.0) return 0.0;
  precision /= used;
  recall /= used;
  return 100.0 * (1.0 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

std::string bleu_signature(BleuTokenizer tokenizer) {
  return fmt::format("nrefs:1|case:mixed|eff:no|tok:{}|smooth:exp|version:sampan-{}",
                     tokenizer_name(tokenizer), version());
}

std::string chrf_signature() {
  return fmt::format("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:sampan-{}", version());
}

}  // namespace sampan::evaluate
