#include "decode/logits_processors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "decode/generation_config_json.h"
#include "decode/search.h"
#include "small_search.h"
#include "support/folders.h"

namespace sampan::decode {
namespace {

using nlohmann::json;
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// A case that transformers' own processors answered; see tests/data/decode/make_golden.py.
struct Case {
  GenerationConfig config;
  std::vector<std::int64_t> tokens;
  std::vector<float> logits;
  std::vector<float> logits_after;
  std::vector<float> log_probs_after;  ///< empty for sampling
  std::string name;
};

std::vector<float> row_of(const json& values) {
  std::vector<float> row;
  for (const json& value : values) row.push_back(value.is_null() ? kForbidden : value.get<float>());
  return row;
}

std::vector<Case> cases() {
  std::ifstream file(std::string(kSourceFolder) + "/tests/data/decode/processors.json");
  std::vector<Case> result;
  for (const json& entry : json::parse(file)) {
    const std::string config = entry["config"].dump();
    result.push_back({parse_generation_config({"case", config, std::nullopt}),
                      entry["tokens"].get<std::vector<std::int64_t>>(), row_of(entry["logits"]),
                      row_of(entry["logits_after"]),
                      row_of(entry.value("log_probs_after", json::array())), entry.dump()});
  }
  return result;
}

void expect_rows_near(const std::vector<float>& actual, const std::vector<float>& expected,
                      const std::string& name) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isinf(expected[i])) {
      EXPECT_EQ(actual[i], expected[i]) << "token " << i << " of " << name;
    } else {
      EXPECT_NEAR(actual[i], expected[i], 2e-5F) << "token " << i << " of " << name;
    }
  }
}

TEST(LogitsProcessors, DoToLogProbabilitiesWhatTransformersDoes) {
  int compared = 0;
  for (const Case& given : cases()) {
    if (given.log_probs_after.empty()) continue;
    std::vector<float> row = given.logits;
    LogitsProcessors processors(given.config, 10);
    const Normalizer normalizer =
        processors.process_log_probs(row, {given.tokens, 1, given.config.max_length});
    for (float& x : row) x = normalizer.log_prob(x);
    expect_rows_near(row, given.log_probs_after, given.name);
    ++compared;
  }
  EXPECT_EQ(compared, 68);
}

TEST(LogitsProcessors, DoToLogitsWhatTransformersDoes) {
  int compared = 0;
  for (const Case& given : cases()) {
    if (given.config.do_sample) continue;
    std::vector<float> row = given.logits;
    LogitsProcessors processors(given.config, 10);
    const Normalizer normalizer =
        processors.process_logits(row, {given.tokens, 1, given.config.max_length});
    // With renormalisation transformers returns log-probabilities, without it logits.
    if (given.config.renormalize_logits) {
      for (float& x : row) x = normalizer.log_prob(x);
    }
    expect_rows_near(row, given.logits_after, given.name);
    ++compared;
  }
  EXPECT_EQ(compared, 68);
}

TEST(LogitsProcessors, LeaveSamplingTheSharesTransformersLeaves) {
  int compared = 0;
  for (const Case& given : cases()) {
    if (!given.config.do_sample) continue;
    double sum = 0.0;
    for (const float x : given.logits_after) sum += std::exp(static_cast<double>(x));
    SearchInput input;
    input.source = {1};
    input.prefix.assign(given.tokens.begin() + 1, given.tokens.end());
    input.max_length = static_cast<std::int64_t>(given.tokens.size()) + 1;
    GenerationConfig config = given.config;
    config.num_return_sequences = 400;
    if (config.min_new_tokens) {  // transformers' case had no prefix; ours counts from its end
      config.min_length = *config.min_new_tokens + 1;
      config.min_new_tokens.reset();
    }
    FakeModel model(10, [&](const auto&, const auto&) { return given.logits; });
    std::vector<int> drawn(10, 0);
    const auto results = search(model, std::span(&input, 1), config);
    for (const Hypothesis& target : results[0]) {
      const auto token = static_cast<std::size_t>(target.tokens[0]);
      ++drawn[token];
      EXPECT_NEAR(target.log_probs[0],
                  static_cast<double>(given.logits_after[token]) - std::log(sum), 2e-5)
          << given.name;
    }
    for (std::size_t token = 0; token < 10; ++token) {
      const double share = std::exp(static_cast<double>(given.logits_after[token])) / sum;
      EXPECT_NEAR(drawn[token] / 400.0, share, 0.12) << "token " << token << " of " << given.name;
      if (share == 0.0) {
        EXPECT_EQ(drawn[token], 0) << "token " << token << " of " << given.name;
      }
    }
    ++compared;
  }
  EXPECT_EQ(compared, 24);
}

TEST(LogitsProcessors, RefuseTokensOutsideTheVocabulary) {
  const auto refuses = [](auto change) {
    GenerationConfig config = small_config();
    change(config);
    std::string message;
    const ErrorCode code =
        error_code_of([&] { LogitsProcessors processors(config, 10); }, &message);
    return code == ErrorCode::kInvalidArgument && message.find("10") != std::string::npos;
  };
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.bad_words_ids = {{3, 10}}; }));
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.suppress_tokens = {10}; }));
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.forced_bos_token_id = 10; }));
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.forced_eos_token_id = {10}; }));
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.eos_token_id = {0, 10}; }));
  EXPECT_TRUE(refuses([](GenerationConfig& c) { c.decoder_start_token_id = 10; }));
}

TEST(LogitsProcessors, MaskForScoringTakesOutForbiddenTokensOnly) {
  GenerationConfig config = small_config();
  config.bad_words_ids = {{1}, {0}, {2, 3}};
  config.suppress_tokens = {4};
  std::vector<float> row = {1.0F, 50.0F, 2.0F, 1.0F, 9.0F};
  LogitsProcessors processors(config, 5);
  const Normalizer normalizer = processors.mask_forbidden(row);
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(1.0);
  EXPECT_NEAR(normalizer.log_prob(row[0]), 1.0 - std::log(sum), 1e-5);
  EXPECT_NEAR(normalizer.log_prob(row[2]), 2.0 - std::log(sum), 1e-5);
  EXPECT_EQ(normalizer.log_prob(row[1]), kForbidden);
  EXPECT_EQ(normalizer.log_prob(row[4]), kForbidden);
}

TEST(LogitsProcessors, RefuseLogitsThatAreNotNumbers) {
  const GenerationConfig config = small_config();
  LogitsProcessors processors(config, 4);
  std::vector<float> row = {0.0F, 1.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F};
  const std::vector<std::int64_t> tokens = {1, 2};
  EXPECT_EQ(error_code_of([&] {
              processors.process_logits(row, {tokens, 1, 9});
            }),
            ErrorCode::kInvalidData);
  EXPECT_EQ(error_code_of([&] {
              processors.process_log_probs(row, {tokens, 1, 9});
            }),
            ErrorCode::kInvalidData);
}

}  // namespace
}  // namespace sampan::decode
