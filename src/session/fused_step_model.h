#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/step_model.h"
#include "session/fused_graphs.h"
#include "session/row_tensor.h"
#include "session/self_cache.h"

namespace sampan::session {

/// Decodes with the graphs of a package in the layout `ort-cpu`. Nothing is allocated from step to
/// step while rows and room stay: keys and values are appended in place, and logits have memory of
/// their own. Rows of one sentence that lie side by side read its cross-attention keys and values
/// from one place. A failed call leaves the state that was, except `start`, which leaves none.
///
/// Throws as `OnnxStepModel`.
class FusedStepModel final : public decode::StepModel {
 public:
  explicit FusedStepModel(std::shared_ptr<const FusedGraphs> graphs);

  std::int64_t vocab_size() const override { return graphs_->vocab_size; }
  std::int64_t max_positions() const override { return graphs_->max_positions; }
  void start(const decode::SourceBatch& sources) override;
  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override;
  void select(std::span<const std::int64_t> origins) override;
  std::int64_t rows() const override { return std::ssize(sentences_); }

 private:
  /// The tensors of a run, which serve again as long as nothing moves.
  struct Bound {
    std::uint64_t cache_version = 0;
    std::int64_t length = 0;
    std::size_t slots = 0;
    bool valid = false;
    std::vector<Ort::Value> values;
    std::vector<const OrtValue*> inputs;
    std::vector<OrtValue*> outputs;
  };

  void encode(const decode::SourceBatch& sources);
  std::span<float> run_decoder(std::span<const std::int64_t> tokens, std::int64_t length);
  void bind(std::int64_t length);
  void select_slots(std::span<const std::int64_t> sentences);

  std::shared_ptr<const FusedGraphs> graphs_;  // first: it must outlive the tensors
  std::vector<std::int64_t> sentences_;        ///< [row], index into the sources of `start`
  SelfCache cache_;
  Ort::Value encoded_{nullptr};               ///< the encoder's output, under cross_
  std::vector<RowTensor> cross_;              ///< [slot, head, source, head_dim] each
  std::vector<std::int64_t> slots_;           ///< [slot], index into the sources
  std::vector<std::int32_t> source_lengths_;  ///< [slot]

  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> positions_;
  std::vector<std::int64_t> row_shape_;
  std::vector<std::int64_t> query_shape_;
  std::vector<std::int32_t> last_positions_;
  std::vector<std::int32_t> total_length_;
  std::unique_ptr<float[]> logits_;
  std::size_t logits_room_ = 0;
  std::vector<float> stitched_logits_;
  Bound bound_;
};

}  // namespace sampan::session
