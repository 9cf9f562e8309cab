#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/step_model.h"
#include "reference/marian.h"

namespace sampan::verify {

/// Lets the searches run on the reference, rounded to float only where they read its logits.
class ReferenceStepModel final : public decode::StepModel {
 public:
  /// `model` must outlive this object.
  ReferenceStepModel(const reference::Marian& model, std::int64_t max_positions)
      : model_(model), max_positions_(max_positions) {}

  std::int64_t vocab_size() const override { return model_.vocab_size(); }
  std::int64_t max_positions() const override { return max_positions_; }
  void start(const decode::SourceBatch& sources) override;
  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override;
  void select(std::span<const std::int64_t> origins) override;
  std::int64_t rows() const override { return static_cast<std::int64_t>(targets_.size()); }

 private:
  const reference::Marian& model_;
  std::int64_t max_positions_;
  std::vector<reference::Marian::Target> targets_;
  std::vector<float> logits_;
};

}  // namespace sampan::verify
