#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

#include "decode/golden_data.h"
#include "decode/golden_package.h"
#include "decode/scoring.h"
#include "session/sequence_model.h"

namespace sampan::decode {
namespace {

/// Below this, rounding may decide between two candidates.
constexpr double kNearTie = 1e-4;

/// What comparing a setting with its golden tokens found.
struct Comparison {
  std::size_t compared = 0;
  std::size_t at_limit = 0;
  std::size_t within_near_tie = 0;     ///< lines that may differ
  std::vector<std::size_t> near_ties;  ///< lines that differ where two candidates were within 1e-4
  std::vector<std::string> failures;   ///< lines that differ otherwise
};

std::string text_of(const std::vector<std::int64_t>& tokens) {
  std::string text;
  for (const std::int64_t token : tokens) text += std::to_string(token) + ' ';
  return text;
}

void compare(const GoldenLine& golden, const std::vector<Hypothesis>& found, Comparison& result) {
  ++result.compared;
  if (found[0].finish_reason == FinishReason::kLength) ++result.at_limit;
  if (found[0].smallest_margin < kNearTie) ++result.within_near_tie;
  bool equal = found.size() == golden.hypotheses.size();
  for (std::size_t i = 0; equal && i < found.size(); ++i) {
    equal = found[i].tokens == golden.hypotheses[i].tokens;
    if (equal && golden.hypotheses[i].score) {
      const double expected = *golden.hypotheses[i].score;
      EXPECT_NEAR(found[i].score, expected, 2e-4 + 1e-6 * std::abs(expected))
          << "line " << golden.number;
    }
  }
  if (equal) return;
  if (found[0].smallest_margin < kNearTie) {
    result.near_ties.push_back(golden.number);
  } else {
    result.failures.push_back("line " + std::to_string(golden.number) + ", margin " +
                              std::to_string(found[0].smallest_margin) +
                              "\n  sampan:       " + text_of(found[0].tokens) +
                              "\n  transformers: " + text_of(golden.hypotheses[0].tokens));
  }
}

/// A setting's lines are tested in eighths, each a test of its own, so that they run side by side.
constexpr std::size_t kParts = 8;

/// The eighths of a setting that this build tests. Sanitizers look for faults, which one eighth of
/// the beam searches shows as well; all lines are compared without them (and greedy ones always).
std::vector<std::pair<std::string, std::size_t>> parts_to_test() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::size_t kBeamParts = 1;
#else
  constexpr std::size_t kBeamParts = kParts;
#endif
  std::vector<std::pair<std::string, std::size_t>> parts;
  for (const std::string& name : golden_names(true)) {
    for (std::size_t part = 0; part < (name == "greedy" ? kParts : kBeamParts); ++part) {
      parts.emplace_back(name, part);
    }
  }
  return parts;
}

/// Searches lines `first`, `first` + `stride` and so on, in batches of sentences of like length.
Comparison compare_setting(const GoldenSetting& setting, std::size_t first, std::size_t stride) {
  std::vector<const GoldenLine*> lines;
  for (std::size_t i = first; i < setting.lines.size(); i += stride) {
    lines.push_back(&setting.lines[i]);
  }
  std::ranges::stable_sort(lines, {},
                           [](const GoldenLine* line) { return line->input.source.size(); });
  const auto model = golden_model()->new_step_model();
  const std::size_t batch_size = 64 / static_cast<std::size_t>(setting.config.num_beams);
  Comparison result;
  for (std::size_t begin = 0; begin < lines.size(); begin += batch_size) {
    const std::size_t end = std::min(begin + batch_size, lines.size());
    std::vector<SearchInput> inputs;
    for (std::size_t i = begin; i < end; ++i) inputs.push_back(lines[i]->input);
    const auto found = search(*model, inputs, setting.config);
    for (std::size_t i = begin; i < end; ++i) compare(*lines[i], found[i - begin], result);
  }
  return result;
}

void expect_exact(const std::string& name, std::size_t first, std::size_t stride) {
  const Comparison result = compare_setting(golden_setting(name), first, stride);
  std::cout << name << ": " << result.compared << " lines, " << result.at_limit << " at the limit, "
            << result.within_near_tie << " with a near tie, of which " << result.near_ties.size()
            << " differ:";
  for (const std::size_t line : result.near_ties) std::cout << ' ' << line;
  std::cout << '\n';
  EXPECT_GT(result.compared, 0U);
  for (const std::string& failure : result.failures) ADD_FAILURE() << name << ", " << failure;
  EXPECT_LE(result.near_ties.size(), 1 + result.compared / 200) << "too many to be chance";
}

/// The tokens of transformers over the 2,012 lines.
class GoldenTokens : public testing::TestWithParam<std::pair<std::string, std::size_t>> {};

TEST_P(GoldenTokens, AreThoseOfTransformers) {
  expect_exact(GetParam().first, GetParam().second, kParts);
}

INSTANTIATE_TEST_SUITE_P(AllLines, GoldenTokens, testing::ValuesIn(parts_to_test()),
                         [](const auto& setting) {
                           std::string name = setting.param.first;
                           std::ranges::replace(name, '.', '_');
                           return name + "_part_" + std::to_string(setting.param.second);
                         });

/// The same over 100 lines, for every other option of the search.
class GoldenTokensOfShortSet : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTokensOfShortSet, AreThoseOfTransformers) { expect_exact(GetParam(), 0, 1); }

INSTANTIATE_TEST_SUITE_P(ShortSet, GoldenTokensOfShortSet, testing::ValuesIn(golden_names(false)),
                         [](const auto& setting) { return setting.param; });

TEST(GoldenScores, OfGivenTargetsAreThoseOfTorch) {
  const std::vector<GoldenScore> golden = golden_scores();
  std::vector<SearchInput> inputs;
  std::vector<std::vector<std::int64_t>> targets;
  for (const GoldenScore& score : golden) {
    inputs.push_back(score.input);
    targets.push_back(score.target);
  }
  const auto model = golden_model()->new_step_model();
  const auto scores = score_targets(*model, inputs, targets, golden_setting("greedy").config);
  ASSERT_EQ(scores.size(), 40U);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_THAT(scores[i], testing::Pointwise(testing::FloatNear(2e-4F), golden[i].log_probs)) << i;
  }
}

}  // namespace
}  // namespace sampan::decode
