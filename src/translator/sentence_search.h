#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "decode/search.h"
#include "sampan/translator.h"
#include "translator/step_model_pool.h"

namespace sampan::translator {

/// One sentence on its way through the model.
struct SentenceJob {
  std::size_t text = 0;              ///< index of the text it belongs to
  std::vector<std::int64_t> source;  ///< ids with end of sentence
};

/// What all sentences of one call share.
struct SentenceSearch {
  /// `options.generation` is complete: forced tokens of the language are in it.
  const TranslateOptions& options;
  std::span<const std::int64_t> prefix;  ///< target ids that every translation starts with
  std::int64_t max_positions = 0;
  /// Called for each new token, if set: sentences run one by one then, in the order of the jobs.
  std::function<void(std::size_t text, std::int64_t token)> on_token;
};

/// Searches the translations of all jobs in batches of like length; result [job][hypothesis].
/// Throws as `decode::search` does.
std::vector<std::vector<decode::Hypothesis>> search_sentences(StepModelPool& pool,
                                                              std::span<const SentenceJob> jobs,
                                                              const SentenceSearch& search);

}  // namespace sampan::translator
