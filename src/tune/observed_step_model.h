#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/step_model.h"
#include "session/contract.h"
#include "session/graph_runner.h"
#include "tune/package_rewrite.h"

namespace sampan::tune {

/// Activations that go into products with weights.
struct ObservedInput {
  std::span<const std::string> weights;  ///< names of all weights that they are multiplied with
  std::span<const float> values;         ///< [..., inputs] row-major
  std::int64_t inputs = 0;
  bool in_encoder = false;
};
using ObserveActivations = std::function<void(const ObservedInput& input)>;

/// The fp32 graphs of a package, run for one sentence at a time, so that no padding and no finished
/// neighbour is seen, with the activations of every product shown to an observer. Decodes as
/// searches ask for it, cache and all: first with decoder_model, then with decoder_with_past_model.
class ObservedStepModel final : public decode::StepModel {
 public:
  /// Throws `Error`: kUnsupported for a package without separate decoders; what reading, writing
  /// and loading graphs throws.
  ObservedStepModel(const SourcePackage& source, ObserveActivations observe);
  ~ObservedStepModel() override;

  std::int64_t vocab_size() const override { return contract_.vocab_size; }
  std::int64_t max_positions() const override { return max_positions_; }
  /// One sentence.
  void start(const decode::SourceBatch& sources) override;
  std::span<float> step(std::span<const std::int64_t> tokens, std::int64_t length) override;
  /// The one row, in place, or none.
  void select(std::span<const std::int64_t> origins) override;
  std::int64_t rows() const override { return rows_; }

 private:
  class ObservedGraph;

  std::vector<session::NamedTensor> inputs_of(const session::DecoderInputs& inputs,
                                              std::span<const std::int64_t> tokens) const;
  void keep(std::vector<session::NamedTensor>& made, std::size_t first,
            const std::vector<session::CacheNames>& names);

  ObserveActivations observe_;
  std::unique_ptr<const ObservedGraph> encoder_;
  std::unique_ptr<const ObservedGraph> first_;
  std::unique_ptr<const ObservedGraph> next_;
  session::DecoderContract contract_;
  std::int64_t max_positions_ = 0;
  session::NamedTensor states_;
  session::NamedTensor mask_;
  /// Keys and values under the names of the next step's inputs; empty before the first step.
  std::vector<session::NamedTensor> past_;
  std::vector<float> logits_;
  std::int64_t rows_ = 0;
};

}  // namespace sampan::tune
