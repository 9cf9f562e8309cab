#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/random.h"
#include "decode/sentence_search.h"

namespace sampan::decode {
namespace {

/// A token that may be drawn and how likely it is.
struct Share {
  std::int64_t token = 0;
  float logit = 0.0F;
  double weight = 0.0;  ///< exp(logit - highest)
};

/// Draws each token from what temperature, top_k and top_p leave of its distribution; one row for
/// each of num_return_sequences.
class SamplingSearch final : public SentenceSearch {
 public:
  SamplingSearch(SearchTools& tools, std::size_t sentence, Prompt prompt,
                 std::span<const std::int64_t> source)
      : tools_(tools), config_(tools.config), sentence_(sentence), prompt_(std::move(prompt)) {
    for (std::int64_t i = 0; i < config_.num_return_sequences; ++i) {
      targets_.push_back({Random(config_.seed, source, prompt_.tokens, i), prompt_.tokens, {}});
      drawing_.push_back(targets_.size() - 1);
    }
  }

  void advance(const SentenceLogits& logits, std::vector<NextRow>& next) override;
  std::vector<Hypothesis> hypotheses() override;

 private:
  struct Target {
    Random random;
    std::vector<std::int64_t> tokens;  ///< prompt and what was drawn
    std::vector<float> log_probs;
    double margin = std::numeric_limits<double>::infinity();
  };

  void find_shares(std::span<const float> row);
  void find_all_shares(std::span<const float> row, float highest);
  void keep_top_p(double total);
  void add_share(const RankedToken& token, float highest);
  std::int64_t draw(Target& target);

  SearchTools& tools_;
  const GenerationConfig& config_;
  std::size_t sentence_;
  Prompt prompt_;
  std::vector<Target> targets_;
  std::vector<std::size_t> drawing_;  ///< targets that go on, one a row (all behind the first one)
  std::vector<Share> shares_;         ///< of the row at hand
  double total_ = 0.0;                ///< their weights' sum
};

void SamplingSearch::advance(const SentenceLogits& logits, std::vector<NextRow>& next) {
  const bool first = targets_.front().log_probs.empty();
  std::vector<std::size_t> going_on;
  for (std::size_t i = 0; i < drawing_.size(); ++i) {
    Target& target = targets_[drawing_[i]];
    if (i == 0 || !first) {
      const std::span<float> row = logits[i];
      tools_.processors.process_logits(
          row,
          {target.tokens, static_cast<std::int64_t>(prompt_.tokens.size()), prompt_.max_length});
      find_shares(row);
      if (shares_.empty()) fail_without_candidate(target.tokens.size());
    }
    const std::int64_t token = draw(target);
    if (drawing_[i] == 0 && tools_.control.on_token) tools_.control.on_token(sentence_, token);
    const bool full = target.tokens.size() >= static_cast<std::size_t>(prompt_.max_length);
    if (full || ends_target(config_, token)) continue;
    next.push_back({first ? 0 : i, token});
    going_on.push_back(drawing_[i]);
  }
  drawing_ = std::move(going_on);
}

void SamplingSearch::find_shares(std::span<const float> row) {
  shares_.clear();
  total_ = 0.0;
  const RowMaxima& maxima = tools_.processors.maxima();
  if (config_.top_k > 0) {
    const auto best = tools_.top_k.select(row, maxima, static_cast<std::size_t>(config_.top_k));
    if (best.empty()) return;
    // transformers keeps every token that is as likely as the k-th.
    for (const RankedToken& token : tools_.top_k.reaching(row, maxima, best.back().logit)) {
      add_share(token, maxima.highest());
    }
    keep_top_p(total_);
  } else if (maxima.highest() > -std::numeric_limits<float>::infinity()) {
    find_all_shares(row, maxima.highest());
  }
}

void SamplingSearch::find_all_shares(std::span<const float> row, float highest) {
  const RowMaxima& maxima = tools_.processors.maxima();
  const double all = static_cast<double>(sum_of_exponentials(row, highest));
  // The likeliest few usually reach top_p; only if they do not is more of the row looked at.
  for (std::size_t count = config_.top_p < 1.0 ? 256 : row.size();; count *= 4) {
    shares_.clear();
    total_ = 0.0;
    for (const RankedToken& token : tools_.top_k.select(row, maxima, count)) {
      add_share(token, highest);
    }
    if (count >= row.size() || total_ > config_.top_p * all) break;
  }
  keep_top_p(all);
}

void SamplingSearch::keep_top_p(double total) {
  if (config_.top_p >= 1.0) return;
  double before = 0.0;
  std::size_t count = 0;
  while (count < shares_.size() && (count == 0 || before / total < config_.top_p)) {
    before += shares_[count].weight;
    ++count;
  }
  shares_.resize(count);
  total_ = before;
}

void SamplingSearch::add_share(const RankedToken& token, float highest) {
  const double weight = static_cast<double>(exp_of_negative(token.logit - highest));
  shares_.push_back({token.token, token.logit, weight});
  total_ += weight;
}

std::int64_t SamplingSearch::draw(Target& target) {
  const double drawn = target.random.next() * total_;
  double end = 0.0;
  std::size_t i = 0;
  for (; i + 1 < shares_.size(); ++i) {
    end += shares_[i].weight;
    if (drawn < end) break;
  }
  if (i + 1 == shares_.size()) end = total_;
  const double begin = end - shares_[i].weight;
  if (i > 0) target.margin = std::min(target.margin, (drawn - begin) / total_);
  if (i + 1 < shares_.size()) target.margin = std::min(target.margin, (end - drawn) / total_);
  target.tokens.push_back(shares_[i].token);
  target.log_probs.push_back(static_cast<float>(std::log(shares_[i].weight / total_)));
  return shares_[i].token;
}

std::vector<Hypothesis> SamplingSearch::hypotheses() {
  std::vector<Hypothesis> result;
  for (Target& target : targets_) {
    target.tokens.erase(target.tokens.begin(),
                        target.tokens.begin() + static_cast<std::ptrdiff_t>(prompt_.tokens.size()));
    result.push_back(
        make_hypothesis(config_, prompt_, std::move(target.tokens), std::move(target.log_probs)));
    result.back().smallest_margin = std::max(0.0, target.margin);
  }
  return result;
}

}  // namespace

std::unique_ptr<SentenceSearch> make_sampling_search(SearchTools& tools, std::size_t sentence,
                                                     Prompt prompt,
                                                     std::span<const std::int64_t> source) {
  return std::make_unique<SamplingSearch>(tools, sentence, std::move(prompt), source);
}

}  // namespace sampan::decode
