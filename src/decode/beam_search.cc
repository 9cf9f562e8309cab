#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/sentence_search.h"

namespace sampan::decode {
namespace {

/// Score of a beam that must lose against every real one: at the first step all beams but one are
/// copies. The constants are transformers', so its arithmetic holds in the last corner.
constexpr float kDeadScore = -1.0e9F;

/// A target under construction.
struct Beam {
  std::vector<std::int64_t> tokens;  ///< prompt and what was chosen
  std::vector<float> log_probs;
  float score = 0.0F;  ///< sum of log_probs, in float32
};

/// A beam and one token behind it.
struct Candidate {
  float score = 0.0F;
  float log_prob = 0.0F;
  std::int64_t token = 0;
  std::size_t beam = 0;
  std::size_t rank = 0;  ///< within its beam
};

/// Higher score first; of equals the better beam, then the better and then the lower token.
bool ranks_before(const Candidate& a, const Candidate& b) noexcept {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.rank < b.rank;
}

bool is_live(float score) noexcept { return score > kDeadScore / 2.0F; }

/// A finished target; `score` is divided by length^length_penalty.
struct Finished {
  Beam beam;
  float score = 0.0F;
};

/// A score that is divided by length^length_penalty, and that length.
struct LengthScore {
  float value = kDeadScore;
  std::size_t length = 1;
};

LengthScore score_of(const Finished& finished) {
  return {finished.score, finished.beam.log_probs.size()};
}

/// Beam search of one sentence, step by step as transformers' vectorised `_beam_search`: of
/// max(2, 1 + eos tokens) * num_beams candidates the first num_beams may finish, and the first
/// num_beams that do not end go on. Targets at the maximum length count as finished.
class BeamSearch final : public SentenceSearch {
 public:
  BeamSearch(SearchTools& tools, Prompt prompt)
      : tools_(tools),
        config_(tools.config),
        prompt_(std::move(prompt)),
        num_beams_(static_cast<std::size_t>(config_.num_beams)),
        kept_(std::max<std::size_t>(2, 1 + config_.eos_token_id.size()) * num_beams_),
        beams_(num_beams_, Beam{prompt_.tokens, {}, kDeadScore}) {
    beams_.front().score = 0.0F;
  }

  void advance(const SentenceLogits& logits, std::vector<NextRow>& next) override;
  std::vector<Hypothesis> hypotheses() override;

 private:
  std::size_t generated() const { return beams_.front().tokens.size() - prompt_.tokens.size(); }
  float length_divisor(std::size_t length) const {
    return static_cast<float>(std::pow(static_cast<double>(length), config_.length_penalty));
  }
  void collect(const SentenceLogits& logits);
  void collect_row(std::span<float> row, std::size_t first_beam, std::size_t last_beam);
  void sort_out();
  void finish(const Candidate& candidate);
  void go_on(std::vector<NextRow>& next);
  bool is_done();
  Beam extend(const Candidate& candidate) const;
  bool ends(const Candidate& candidate) const {
    return generated() + 1 + prompt_.tokens.size() >=
               static_cast<std::size_t>(prompt_.max_length) ||
           ends_target(config_, candidate.token);
  }
  void note_margin(float better, float worse);
  void note_score_margin(LengthScore a, LengthScore b);
  void note_running_margin();
  void note_finishing_margin();

  SearchTools& tools_;
  const GenerationConfig& config_;
  Prompt prompt_;
  std::size_t num_beams_;
  std::size_t kept_;  ///< candidates looked at in each step
  std::vector<Beam> beams_;
  std::vector<Finished> finished_;     ///< best first, at most num_beams
  std::vector<Candidate> candidates_;  ///< of this step, best first; one more than `kept_` if any
  std::vector<std::size_t> running_;   ///< candidates that go on
  LengthScore best_lost_;              ///< best that was pushed out of finished_
  double margin_ = std::numeric_limits<double>::infinity();
};

void BeamSearch::advance(const SentenceLogits& logits, std::vector<NextRow>& next) {
  collect(logits);
  if (candidates_.empty()) {
    if (finished_.empty()) fail_without_candidate(beams_.front().tokens.size());
    return;
  }
  sort_out();
  note_finishing_margin();
  if (running_.empty()) return;
  if (is_done()) return;
  note_running_margin();
  go_on(next);
}

void BeamSearch::collect(const SentenceLogits& logits) {
  candidates_.clear();
  if (generated() == 0) {
    collect_row(logits[0], 0, num_beams_);  // all beams stand behind the same prompt
  } else {
    for (std::size_t beam = 0; beam < beams_.size(); ++beam) {
      collect_row(logits[beam], beam, beam + 1);
    }
  }
  const std::size_t sorted = std::min(kept_ + 1, candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(sorted),
                    candidates_.end(), ranks_before);
  candidates_.resize(sorted);
}

void BeamSearch::collect_row(std::span<float> row, std::size_t first_beam, std::size_t last_beam) {
  const Normalizer normalizer = tools_.processors.process_log_probs(
      row, {beams_[first_beam].tokens, static_cast<std::int64_t>(prompt_.tokens.size()),
            prompt_.max_length});
  const auto best = tools_.top_k.select(row, tools_.processors.maxima(), kept_ + 1);
  for (std::size_t beam = first_beam; beam < last_beam; ++beam) {
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      const float log_prob = normalizer.log_prob(best[rank].logit);
      candidates_.push_back(
          {beams_[beam].score + log_prob, log_prob, best[rank].token, beam, rank});
    }
  }
}

void BeamSearch::sort_out() {
  running_.clear();
  const std::size_t count = std::min(kept_, candidates_.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!ends(candidates_[i])) {
      if (running_.size() < num_beams_) running_.push_back(i);
    } else if (i < num_beams_) {
      finish(candidates_[i]);
    }
  }
}

void BeamSearch::finish(const Candidate& candidate) {
  const float score = candidate.score / length_divisor(generated() + 1);
  auto place = finished_.end();
  while (place != finished_.begin() && std::prev(place)->score < score) --place;
  finished_.insert(place, {extend(candidate), score});
  if (finished_.size() > num_beams_) {
    if (finished_.back().score > best_lost_.value) best_lost_ = score_of(finished_.back());
    finished_.pop_back();
  }
}

void BeamSearch::go_on(std::vector<NextRow>& next) {
  const bool first = generated() == 0;
  std::vector<Beam> beams;
  beams.reserve(running_.size());
  for (const std::size_t i : running_) {
    next.push_back({first ? 0 : candidates_[i].beam, candidates_[i].token});
    beams.push_back(extend(candidates_[i]));
  }
  beams_ = std::move(beams);
}

bool BeamSearch::is_done() {
  const bool full = finished_.size() == num_beams_;
  const float worst = full ? finished_.back().score : kDeadScore;
  const bool longest =
      config_.early_stopping == EarlyStopping::kNever && config_.length_penalty > 0.0;
  const std::size_t length =
      longest ? static_cast<std::size_t>(prompt_.max_length) - prompt_.tokens.size()
              : generated() + 1;
  const float best_possible = candidates_[running_.front()].score / length_divisor(length);
  if (full && config_.early_stopping == EarlyStopping::kTrue) return true;
  if (full) note_score_margin({best_possible, length}, score_of(finished_.back()));
  return !(best_possible > worst);
}

Beam BeamSearch::extend(const Candidate& candidate) const {
  Beam beam = beams_[candidate.beam];
  beam.tokens.push_back(candidate.token);
  beam.log_probs.push_back(candidate.log_prob);
  beam.score = candidate.score;
  return beam;
}

void BeamSearch::note_margin(float better, float worse) {
  if (!is_live(worse)) return;
  margin_ = std::min(margin_, static_cast<double>(better) - static_cast<double>(worse));
}

// The division shrinks what rounding did to the sums as it shrinks the scores: the gap is measured
// as one of sums, by the divisor that shrinks less.
void BeamSearch::note_score_margin(LengthScore a, LengthScore b) {
  if (!is_live(a.value) || !is_live(b.value)) return;
  const float divisor = std::min(length_divisor(a.length), length_divisor(b.length));
  const double gap = std::abs(static_cast<double>(a.value) - static_cast<double>(b.value));
  margin_ = std::min(margin_, gap * static_cast<double>(divisor));
}

void BeamSearch::note_running_margin() {
  if (running_.size() < num_beams_) return;
  const std::size_t last = running_.back();
  for (std::size_t i = last + 1; i < candidates_.size(); ++i) {
    if (i < kept_ && ends(candidates_[i])) continue;
    note_margin(candidates_[last].score, candidates_[i].score);
    return;
  }
}

void BeamSearch::note_finishing_margin() {
  if (candidates_.size() <= num_beams_) return;
  for (std::size_t i = num_beams_; i-- > 0;) {
    if (!ends(candidates_[i])) continue;
    note_margin(candidates_[i].score, candidates_[num_beams_].score);
    break;
  }
  for (std::size_t i = num_beams_; i < candidates_.size(); ++i) {
    if (!ends(candidates_[i])) continue;
    note_margin(candidates_[num_beams_ - 1].score, candidates_[i].score);
    break;
  }
}

std::vector<Hypothesis> BeamSearch::hypotheses() {
  std::size_t count =
      std::min(static_cast<std::size_t>(config_.num_return_sequences), finished_.size());
  // Copies of the first beam that never became targets of their own are no answers.
  while (count > 1 && !is_live(finished_[count - 1].beam.score)) --count;
  for (std::size_t i = 0; i < count; ++i) {
    note_score_margin(score_of(finished_[i]),
                      i + 1 < finished_.size() ? score_of(finished_[i + 1]) : best_lost_);
  }
  std::vector<Hypothesis> result;
  for (std::size_t i = 0; i < count; ++i) {
    Beam& beam = finished_[i].beam;
    beam.tokens.erase(beam.tokens.begin(),
                      beam.tokens.begin() + static_cast<std::ptrdiff_t>(prompt_.tokens.size()));
    result.push_back(
        make_hypothesis(config_, prompt_, std::move(beam.tokens), std::move(beam.log_probs)));
    result.back().smallest_margin = margin_;
  }
  return result;
}

}  // namespace

std::unique_ptr<SentenceSearch> make_beam_search(SearchTools& tools, Prompt prompt) {
  return std::make_unique<BeamSearch>(tools, std::move(prompt));
}

}  // namespace sampan::decode
