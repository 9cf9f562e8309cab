#include <limits>

#include "decode/sentence_search.h"

namespace sampan::decode {
namespace {

/// The most probable token at each step; of equals the lowest.
class GreedySearch final : public SentenceSearch {
 public:
  GreedySearch(SearchTools& tools, std::size_t sentence, Prompt prompt)
      : tools_(tools), sentence_(sentence), prompt_(std::move(prompt)), tokens_(prompt_.tokens) {}

  void advance(const SentenceLogits& logits, std::vector<NextRow>& next) override {
    const std::span<float> row = logits[0];
    const Normalizer normalizer = tools_.processors.process_logits(
        row, {tokens_, static_cast<std::int64_t>(prompt_.tokens.size()), prompt_.max_length});
    const auto best = tools_.top_k.select(row, tools_.processors.maxima(), 2);
    if (best.empty()) fail_without_candidate(tokens_.size());
    if (best.size() > 1) {
      margin_ = std::min(margin_,
                         static_cast<double>(best[0].logit) - static_cast<double>(best[1].logit));
    }
    const std::int64_t token = best[0].token;
    tokens_.push_back(token);
    log_probs_.push_back(normalizer.log_prob(best[0].logit));
    if (tools_.control.on_token) tools_.control.on_token(sentence_, token);
    const bool full = tokens_.size() >= static_cast<std::size_t>(prompt_.max_length);
    if (!full && !ends_target(tools_.config, token)) next.push_back({0, token});
  }

  std::vector<Hypothesis> hypotheses() override {
    tokens_.erase(tokens_.begin(),
                  tokens_.begin() + static_cast<std::ptrdiff_t>(prompt_.tokens.size()));
    std::vector<Hypothesis> result;
    result.push_back(
        make_hypothesis(tools_.config, prompt_, std::move(tokens_), std::move(log_probs_)));
    result.back().smallest_margin = margin_;
    return result;
  }

 private:
  SearchTools& tools_;
  std::size_t sentence_;
  Prompt prompt_;
  std::vector<std::int64_t> tokens_;  ///< prompt and what was chosen
  std::vector<float> log_probs_;
  double margin_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::unique_ptr<SentenceSearch> make_greedy_search(SearchTools& tools, std::size_t sentence,
                                                   Prompt prompt) {
  return std::make_unique<GreedySearch>(tools, sentence, std::move(prompt));
}

}  // namespace sampan::decode
