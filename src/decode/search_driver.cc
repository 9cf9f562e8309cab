#include "decode/search_driver.h"

#include <algorithm>

#include "base/fail.h"

namespace sampan::decode {
namespace {

constexpr std::int64_t kUnplaced = -1;

}  // namespace

void SearchDriver::run(const SourceBatch& sources, std::span<const Prompt> prompts,
                       std::span<const std::unique_ptr<SentenceSearch>> searches) {
  check_control(control_);
  model_.start(sources);
  require_rows(sources.size());
  sentences_.clear();
  fed_ = 0;
  std::size_t length = prompts.front().tokens.size();
  for (std::size_t i = 0; i < searches.size(); ++i) {
    sentences_.push_back({&prompts[i], searches[i].get(), {i}, {}});
    length = std::min(length, prompts[i].tokens.size());
  }
  // Every row has the same past, so prompts go in together as far as the shortest reaches; the
  // longer ones go on token by token beside sentences that already search.
  while (!sentences_.empty()) {
    check_control(control_);
    const std::span<float> logits = feed(length);
    for (Sentence& sentence : sentences_) advance(sentence, logits, length);
    keep_rows();
    length = 1;
  }
}

std::span<float> SearchDriver::feed(std::size_t length) {
  const std::size_t rows = static_cast<std::size_t>(model_.rows());
  tokens_.assign(rows * length, 0);
  for (const Sentence& sentence : sentences_) {
    const auto& prompt = sentence.prompt->tokens;
    if (fed_ < prompt.size()) {
      std::copy_n(prompt.begin() + static_cast<std::ptrdiff_t>(fed_), length,
                  tokens_.begin() + static_cast<std::ptrdiff_t>(sentence.rows.front() * length));
    } else {
      for (std::size_t i = 0; i < sentence.rows.size(); ++i) {
        tokens_[sentence.rows[i]] = sentence.next[i].token;
      }
    }
  }
  const std::span<float> logits = model_.step(tokens_, static_cast<std::int64_t>(length));
  require_logits(model_, logits.size(), tokens_.size());
  fed_ += length;
  return logits;
}

void SearchDriver::advance(Sentence& sentence, std::span<float> logits, std::size_t length) {
  if (fed_ < sentence.prompt->tokens.size()) {
    sentence.next.assign(1, NextRow{});
    return;
  }
  const std::size_t vocab_size = static_cast<std::size_t>(model_.vocab_size());
  // Of a prompt's positions only the last one's logits matter.
  const std::span<float> last = logits.subspan((length - 1) * vocab_size);
  sentence.next.clear();
  sentence.search->advance(SentenceLogits(last, length * vocab_size, vocab_size, sentence.rows),
                           sentence.next);
}

void SearchDriver::keep_rows() {
  // The last sentence takes the place of one that is done, so that all others stay where they are.
  for (std::size_t i = 0; i < sentences_.size();) {
    if (!sentences_[i].next.empty()) {
      ++i;
      continue;
    }
    if (i + 1 < sentences_.size()) sentences_[i] = std::move(sentences_.back());
    sentences_.pop_back();
  }
  if (sentences_.empty()) return;
  origins_.clear();
  for (Sentence& sentence : sentences_) place(sentence);
  bool in_place = origins_.size() == static_cast<std::size_t>(model_.rows());
  for (std::size_t i = 0; in_place && i < origins_.size(); ++i) {
    in_place = origins_[i] == static_cast<std::int64_t>(i);
  }
  if (in_place) return;
  model_.select(origins_);
  require_rows(origins_.size());
}

void SearchDriver::place(Sentence& sentence) {
  const std::size_t begin = origins_.size();
  origins_.resize(begin + sentence.next.size(), kUnplaced);
  std::vector<std::size_t> rows(sentence.next.size(), 0);
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < sentence.next.size(); ++i) {
    const std::size_t origin = sentence.rows[sentence.next[i].origin];
    const bool free = origin >= begin && origin < origins_.size() && origins_[origin] == kUnplaced;
    if (free) {
      origins_[origin] = static_cast<std::int64_t>(origin);
      rows[i] = origin;
    } else {
      moved.push_back(i);
    }
  }
  std::size_t slot = begin;
  for (const std::size_t i : moved) {
    while (origins_[slot] != kUnplaced) ++slot;
    origins_[slot] = static_cast<std::int64_t>(sentence.rows[sentence.next[i].origin]);
    rows[i] = slot;
  }
  sentence.rows = std::move(rows);
}

void SearchDriver::require_rows(std::size_t expected) const {
  if (model_.rows() != static_cast<std::int64_t>(expected)) {
    base::fail(ErrorCode::kInternal, "the model has {} rows where {} were asked for", model_.rows(),
               expected);
  }
}

}  // namespace sampan::decode
