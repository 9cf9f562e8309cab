#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sampan/translator.h"

namespace sampan::cli {

/// One line of `translate --json`, without its line break: an object with source, translation,
/// tokens, score, sentences (byte ranges), truncated and repeats; with more than one candidate also
/// alternatives, all of them, best first. `source` is valid UTF-8.
std::string translation_json(std::string_view source, std::span<const Translation> candidates);

/// One line of `translate --stream`: {"line": number from 1, "piece": text}.
std::string piece_json(std::size_t line, std::string_view piece);

/// One line of `score --json`: source, target, tokens, pieces' log-probabilities and their sum.
std::string score_json(std::string_view source, std::string_view target,
                       const Translator::TargetScore& score);

}  // namespace sampan::cli
