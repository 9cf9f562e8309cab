#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "evaluate/mteval_tokenizer.h"

namespace sampan::evaluate {

/// Corpus BLEU with one reference. Papineni et al. 2002; exponential smoothing of orders without a
/// match (Chen and Cherry 2014, method 3), as sacrebleu computes it.
struct Bleu {
  double score = 0.0;                     ///< 0..100
  std::array<double, 4> precisions = {};  ///< of the 1- to 4-grams, 0..100
  double brevity_penalty = 1.0;           ///< (0, 1]
  std::int64_t hypothesis_length = 0;     ///< words
  std::int64_t reference_length = 0;      ///< words
};

/// `hypotheses[i]` translates the same line as `references[i]`. Throws `Error` kInvalidArgument when
/// their numbers differ.
Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
          BleuTokenizer tokenizer);

/// Corpus chrF2: F-score (recall counts twice) of character 1- to 6-grams without white space,
/// 0..100. Popović 2015, as sacrebleu computes it. Throws as `bleu`.
double chrf(std::span<const std::string> hypotheses, std::span<const std::string> references);

/// What a score was computed with, in sacrebleu's spelling: "nrefs:1|case:mixed|eff:no|tok:zh|...".
std::string bleu_signature(BleuTokenizer tokenizer);
std::string chrf_signature();

}  // namespace sampan::evaluate
