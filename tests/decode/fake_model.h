#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "decode/step_model.h"

namespace sampan::decode {

/// Logits behind a target's tokens, given the sentence: the whole model in one function.
using LogitsFunction = std::function<std::vector<float>(const std::vector<std::int64_t>& source,
                                                        const std::vector<std::int64_t>& target)>;

/// Logits that look random but depend on source and target alone; the same everywhere.
inline LogitsFunction hashed_logits(std::size_t vocab_size, float spread = 4.0F) {
  return [=](const auto& source, const auto& target) {
    std::uint64_t state = 0x243f6a8885a308d3U;
    const auto absorb = [&](std::int64_t value) {
      state ^=
          static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U + (state << 6U) + (state >> 2U);
      state *= 0xff51afd7ed558ccdU;
      state ^= state >> 33U;
    };
    for (const std::int64_t token : source) absorb(token);
    absorb(-7);
    for (const std::int64_t token : target) absorb(token);
    std::vector<float> logits(vocab_size);
    for (std::size_t i = 0; i < vocab_size; ++i) {
      absorb(static_cast<std::int64_t>(i));
      logits[i] = (static_cast<float>(state >> 40U) * 0x1p-24F - 0.5F) * spread;
    }
    return logits;
  };
}

/// A step model out of a function. It checks how it is used, and can fail, stall and lie.
class FakeModel final : public StepModel {
 public:
  FakeModel(std::int64_t vocab_size, LogitsFunction logits)
      : vocab_size_(vocab_size), logits_of_(std::move(logits)) {}

  std::int64_t positions = 512;
  std::int64_t fail_at_step = -1;  ///< throws instead of the step of that number
  std::chrono::milliseconds stall{0};
  bool lie_about_logits = false;
  bool lie_about_rows = false;

  // What happened.
  std::vector<std::int64_t> rows_of_step;
  std::int64_t rows_moved = 0;  ///< rows that `select` put elsewhere

  std::int64_t vocab_size() const override { return vocab_size_; }
  std::int64_t max_positions() const override { return positions; }
  std::int64_t rows() const override {
    return static_cast<std::int64_t>(rows_.size()) + (lie_about_rows ? 1 : 0);
  }

  void start(const SourceBatch& sources) override {
    rows_.clear();
    for (const auto& source : sources) rows_.push_back({source, {}});
    rows_of_step.clear();
  }

  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override {
    if (static_cast<std::int64_t>(rows_of_step.size()) == fail_at_step) {
      base::fail(ErrorCode::kResourceExhausted, "no memory for the step");
    }
    std::this_thread::sleep_for(stall);
    const auto positions_fed = static_cast<std::size_t>(length);
    if (length < 1 || tokens.size() != rows_.size() * positions_fed) {
      throw std::logic_error("tokens do not fit the rows");
    }
    rows_of_step.push_back(rows());
    output_.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Row& row = rows_[i / positions_fed];
      if (tokens[i] < 0 || tokens[i] >= vocab_size_) throw std::logic_error("no such token");
      row.target.push_back(tokens[i]);
      if (static_cast<std::int64_t>(row.target.size()) > positions) {
        throw std::logic_error("beyond the model's positions");
      }
      const std::vector<float> logits = logits_of_(row.source, row.target);
      output_.insert(output_.end(), logits.begin(), logits.end());
    }
    if (lie_about_logits) output_.pop_back();
    return output_;
  }

  void select(std::span<const std::int64_t> origins) override {
    std::vector<Row> next;
    for (std::size_t i = 0; i < origins.size(); ++i) {
      next.push_back(rows_.at(static_cast<std::size_t>(origins[i])));
      if (origins[i] != static_cast<std::int64_t>(i)) ++rows_moved;
    }
    rows_ = std::move(next);
  }

 private:
  struct Row {
    std::vector<std::int64_t> source;
    std::vector<std::int64_t> target;
  };

  std::int64_t vocab_size_;
  LogitsFunction logits_of_;
  std::vector<Row> rows_;
  std::vector<float> output_;
};

}  // namespace sampan::decode
