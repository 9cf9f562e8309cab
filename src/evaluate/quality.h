#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "evaluate/metrics.h"
#include "sampan/translator.h"

namespace sampan::evaluate {

/// How good translations are, judged by references.
struct Quality {
  Bleu bleu;
  double chrf2 = 0.0;         ///< 0..100
  double length_ratio = 0.0;  ///< words of the translations / words of the references, as BLEU cuts
  std::size_t repeating = 0;  ///< lines whose translation repeats itself (`Translation::repeats`)
  std::size_t truncated = 0;  ///< lines whose translation ran into its maximum length
};

/// `translations[i]` and `references[i]` belong to the same line. Throws `Error` kInvalidArgument
/// when their numbers differ.
Quality measure_quality(std::span<const Translation> translations,
                        std::span<const std::string> references, BleuTokenizer tokenizer);

/// Where a translation leaves the baseline's.
struct Difference {
  std::size_t line = 0;   ///< from 0
  std::size_t token = 0;  ///< the first target token that differs, from 0
};

/// The lines whose target tokens are not the baseline's, in order. A line without tokens (it
/// bypassed the model) differs where its text does. Throws as `measure_quality`.
std::vector<Difference> differences(std::span<const Translation> translations,
                                    std::span<const Translation> baseline);

}  // namespace sampan::evaluate
