#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fake_model.h"
#include "sampan/generation.h"

namespace sampan::decode {

/// A second statement of transformers' vectorised beam search, slow and literal: whole score
/// tables, a full sort at every step, running and finished slots filled from the start, nothing
/// shared with the code under test. It knows bad words of one token, forced end of sentence and
/// renormalisation.
class PlainBeamSearch {
 public:
  struct Result {
    std::vector<std::int64_t> tokens;
    float score = 0.0F;
    bool finished = false;
  };

  PlainBeamSearch(LogitsFunction model, GenerationConfig config)
      : model_(std::move(model)), config_(std::move(config)) {}

  std::vector<Result> run(const std::vector<std::int64_t>& source,
                          const std::vector<std::int64_t>& prefix, std::int64_t max_length) {
    std::vector<std::int64_t> prompt = {config_.decoder_start_token_id};
    prompt.insert(prompt.end(), prefix.begin(), prefix.end());
    const auto beams = static_cast<std::size_t>(config_.num_beams);
    std::vector<Slot> running(beams, Slot{prompt, -1e9F, false});
    running.front().score = 0.0F;
    std::vector<Slot> finished(beams, Slot{prompt, -1e9F, false});
    bool improvable = true;
    std::size_t length = prompt.size();
    for (bool going = true; going;) {
      std::vector<Slot> top = extend_all(running, source, max_length);
      std::vector<bool> stops;
      for (const Slot& slot : top) {
        stops.push_back(static_cast<std::int64_t>(slot.tokens.size()) >= max_length ||
                        is_end(slot.tokens.back()));
      }
      running = next_running(top, stops, beams);
      update_finished(finished, top, stops, improvable, length + 1 - prompt.size());
      ++length;
      const bool never =
          config_.early_stopping == EarlyStopping::kNever && config_.length_penalty > 0.0;
      const std::size_t hypothetical =
          (never ? static_cast<std::size_t>(max_length) : length) - prompt.size();
      const float best = running.front().score / divisor(hypothetical);
      bool some_worse = false;
      for (const Slot& slot : finished) {
        some_worse = some_worse || best > (slot.finished ? worst(finished) : -1e9F);
      }
      improvable = improvable && some_worse;
      const bool full = std::ranges::all_of(finished, &Slot::finished) &&
                        config_.early_stopping == EarlyStopping::kTrue;
      const bool all_stop = std::ranges::all_of(stops, [](bool stop) { return stop; });
      going = improvable && !full && !all_stop;
    }
    std::vector<Result> results;
    for (std::size_t i = 0; i < static_cast<std::size_t>(config_.num_return_sequences); ++i) {
      results.push_back({{finished[i].tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()),
                          finished[i].tokens.end()},
                         finished[i].score,
                         finished[i].finished});
    }
    return results;
  }

 private:
  struct Slot {
    std::vector<std::int64_t> tokens;
    float score = 0.0F;
    bool finished = false;
  };

  bool is_end(std::int64_t token) const {
    return std::ranges::count(config_.eos_token_id, token) > 0;
  }
  float divisor(std::size_t length) const {
    return static_cast<float>(std::pow(static_cast<double>(length), config_.length_penalty));
  }
  static float worst(const std::vector<Slot>& slots) {
    return std::ranges::min_element(slots, {}, &Slot::score)->score;
  }

  std::vector<float> log_softmax(std::vector<float> values) const {
    const double highest = static_cast<double>(std::ranges::max(values));
    double sum = 0.0;
    for (const float x : values) sum += std::exp(static_cast<double>(x) - highest);
    for (float& x : values) {
      x = static_cast<float>(static_cast<double>(x) - highest - std::log(sum));
    }
    return values;
  }

  std::vector<float> log_probs(const std::vector<std::int64_t>& source,
                               const std::vector<std::int64_t>& tokens,
                               std::int64_t max_length) const {
    std::vector<float> scores = log_softmax(model_(source, tokens));
    for (const auto& word : config_.bad_words_ids) {
      scores[static_cast<std::size_t>(word[0])] = -std::numeric_limits<float>::infinity();
    }
    if (static_cast<std::int64_t>(tokens.size()) == max_length - 1 &&
        !config_.forced_eos_token_id.empty()) {
      std::ranges::fill(scores, -std::numeric_limits<float>::infinity());
      for (const auto end : config_.forced_eos_token_id)
        scores[static_cast<std::size_t>(end)] = 0.0F;
    }
    return config_.renormalize_logits ? log_softmax(scores) : scores;
  }

  std::vector<Slot> extend_all(const std::vector<Slot>& running,
                               const std::vector<std::int64_t>& source,
                               std::int64_t max_length) const {
    std::vector<Slot> all;
    for (const Slot& slot : running) {
      const std::vector<float> scores = log_probs(source, slot.tokens, max_length);
      for (std::size_t token = 0; token < scores.size(); ++token) {
        all.push_back({slot.tokens, slot.score + scores[token], false});
        all.back().tokens.push_back(static_cast<std::int64_t>(token));
      }
    }
    std::ranges::stable_sort(all, std::greater<>(), &Slot::score);
    const std::size_t keep =
        std::max<std::size_t>(2, 1 + config_.eos_token_id.size()) * running.size();
    all.resize(std::min(keep, all.size()));
    return all;
  }

  static std::vector<Slot> next_running(const std::vector<Slot>& top,
                                        const std::vector<bool>& stops, std::size_t beams) {
    std::vector<Slot> ordered;
    for (std::size_t i = 0; i < top.size(); ++i) {
      ordered.push_back({top[i].tokens, top[i].score + (stops[i] ? -1e9F : 0.0F), false});
    }
    std::ranges::stable_sort(ordered, std::greater<>(), &Slot::score);
    ordered.resize(std::min(beams, ordered.size()));
    return ordered;
  }

  void update_finished(std::vector<Slot>& finished, const std::vector<Slot>& top,
                       const std::vector<bool>& stops, bool improvable,
                       std::size_t generated) const {
    const bool full = std::ranges::all_of(finished, &Slot::finished) &&
                      config_.early_stopping == EarlyStopping::kTrue;
    const std::size_t beams = finished.size();
    std::vector<Slot> merged = finished;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const bool just = stops[i] && i < beams;
      float score = top[i].score / divisor(generated);
      if (full) score += -1e9F;
      if (!improvable) score += -1e9F;
      if (!just) score += -1e9F;
      merged.push_back({top[i].tokens, score, just});
    }
    std::ranges::stable_sort(merged, std::greater<>(), &Slot::score);
    merged.resize(beams);
    finished = std::move(merged);
  }

  LogitsFunction model_;
  GenerationConfig config_;
};

}  // namespace sampan::decode
