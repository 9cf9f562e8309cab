#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/step_model.h"
#include "session/loaded_graphs.h"
#include "session/row_tensor.h"

namespace sampan::session {

/// Decodes with the graphs of a package; the K/V cache stays in the runtime's own tensors, which
/// move from the outputs of one step to the inputs of the next. A failed call leaves the state that
/// was, except `start`, which leaves none.
///
/// Throws kInvalidArgument for a batch, a token count or a row that the contract of `StepModel`
/// does not allow, or more positions than the model has; otherwise as `fail_to_run`.
class OnnxStepModel final : public decode::StepModel {
 public:
  explicit OnnxStepModel(std::shared_ptr<const LoadedGraphs> graphs);

  std::int64_t vocab_size() const override { return graphs_->contract.vocab_size; }
  std::int64_t max_positions() const override { return graphs_->max_positions; }
  void start(const decode::SourceBatch& sources) override;
  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override;
  void select(std::span<const std::int64_t> origins) override;
  std::int64_t rows() const override { return rows_; }

 private:
  std::span<float> run_decoder(std::span<const std::int64_t> tokens, std::int64_t length);
  std::vector<Ort::Value> empty_cache() const;
  void keep_outputs(std::vector<Ort::Value>& outputs, bool first);

  std::shared_ptr<const LoadedGraphs> graphs_;  // first: it must outlive the tensors
  std::int64_t rows_ = 0;
  std::int64_t past_length_ = 0;
  std::vector<std::int64_t> sentences_;  ///< [row], index into the sources of `start`
  RowTensor attention_mask_;             ///< [row, source position]
  RowTensor hidden_states_;              ///< [row, source position, d_model]; empty if not needed
  std::vector<RowTensor> self_attention_;
  std::vector<RowTensor> cross_attention_;
  Ort::Value logits_{nullptr};
  std::vector<float> stitched_logits_;
};

}  // namespace sampan::session
