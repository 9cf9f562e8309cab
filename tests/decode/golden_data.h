#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/search.h"

namespace sampan::decode {

/// One target that transformers found; see tests/data/decode/make_golden.py.
struct GoldenHypothesis {
  std::vector<std::int64_t> tokens;
  std::optional<double> score;
};

/// One sentence of a setting.
struct GoldenLine {
  std::size_t number = 0;  ///< line of the 2,012, from 0
  SearchInput input;
  std::vector<GoldenHypothesis> hypotheses;
};

/// One configuration of the search and all its lines.
struct GoldenSetting {
  std::string name;
  GenerationConfig config;
  std::vector<GoldenLine> lines;
};

/// Names of the settings: those over all lines, and those over the short set.
std::vector<std::string> golden_names(bool all_lines);
GoldenSetting golden_setting(const std::string& name);

/// A source, a target and the log-probabilities of its tokens.
struct GoldenScore {
  SearchInput input;
  std::vector<std::int64_t> target;
  std::vector<float> log_probs;
};
std::vector<GoldenScore> golden_scores();

}  // namespace sampan::decode
