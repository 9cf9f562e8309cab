#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "decode/logits_processors.h"
#include "decode/search.h"
#include "decode/search_prompts.h"
#include "decode/top_k.h"

namespace sampan::decode {

/// One row of a sentence that goes on: it continues the sentence's row `origin` with `token`.
struct NextRow {
  std::size_t origin = 0;
  std::int64_t token = 0;
};

/// The logits of a sentence's rows, by the order in which the sentence named them.
class SentenceLogits {
 public:
  /// Row r of the model has its logits at logits[r * stride, r * stride + vocab_size).
  SentenceLogits(std::span<float> logits, std::size_t stride, std::size_t vocab_size,
                 std::span<const std::size_t> rows)
      : logits_(logits), stride_(stride), vocab_size_(vocab_size), rows_(rows) {}
  std::span<float> operator[](std::size_t row) const {
    return logits_.subspan(rows_[row] * stride_, vocab_size_);
  }

 private:
  std::span<float> logits_;
  std::size_t stride_;
  std::size_t vocab_size_;
  std::span<const std::size_t> rows_;
};

/// The search for the target of one sentence; greedy, sampled and beam search implement it.
class SentenceSearch {
 public:
  virtual ~SentenceSearch() = default;
  /// Looks at the logits behind the sentence's rows (one row behind the prompt, then those that
  /// `next` asked for) and says in `next`, which is empty before, how it goes on; left empty: done.
  virtual void advance(const SentenceLogits& logits, std::vector<NextRow>& next) = 0;
  /// What was found, best first.
  virtual std::vector<Hypothesis> hypotheses() = 0;
};

/// What the searches of one batch share. Not thread-safe.
struct SearchTools {
  const GenerationConfig& config;
  const SearchControl& control;
  LogitsProcessors processors;
  TopK top_k;
};

/// A new search for sentence `sentence` of the batch.
std::unique_ptr<SentenceSearch> make_greedy_search(SearchTools& tools, std::size_t sentence,
                                                   Prompt prompt);
std::unique_ptr<SentenceSearch> make_beam_search(SearchTools& tools, Prompt prompt);
/// `source` seeds the draws together with the options' seed, so equal sentences get equal targets.
std::unique_ptr<SentenceSearch> make_sampling_search(SearchTools& tools, std::size_t sentence,
                                                     Prompt prompt,
                                                     std::span<const std::int64_t> source);

/// True if the token ends a target.
bool ends_target(const GenerationConfig& config, std::int64_t token);

/// A finished target from its tokens: score and reason of its end filled in.
Hypothesis make_hypothesis(const GenerationConfig& config, const Prompt& prompt,
                           std::vector<std::int64_t> tokens, std::vector<float> log_probs);

/// Throws `Error` kInvalidArgument: the options forbid every token at this place of a target.
[[noreturn]] void fail_without_candidate(std::size_t position);

}  // namespace sampan::decode
