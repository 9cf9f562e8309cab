#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "decode/step_model.h"

/// What the step models of this room share.
namespace sampan::session {

/// Throws kInvalidArgument for a sentence without tokens, with more than `max_positions`, or with a
/// negative id.
void check_sources(const decode::SourceBatch& sources, std::int64_t max_positions);

/// Ids of sentences padded to one width, a multiple of `granule`: [sentence, width].
struct PaddedIds {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> ids;
};
PaddedIds pad_ids(const decode::SourceBatch& sources, std::int64_t pad_token_id,
                  std::size_t granule = 1);

/// The tokens of one step and what they follow.
struct StepTokens {
  std::span<const std::int64_t> tokens;  ///< [rows, length]
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::int64_t past_length = 0;  ///< of the longest row
};

/// Throws kInvalidArgument for a step that the contract of `StepModel` does not allow.
void check_step(const StepTokens& step, const decode::StepModel& model);

/// Runs a step of several tokens as steps of one: `run_column` takes a token of each row and gives
/// their logits, [rows, vocab]. Puts together all of them in `logits`, [rows, length, vocab], and
/// gives a view of that.
std::span<float> run_token_by_token(
    const StepTokens& step, std::vector<float>& logits,
    const std::function<std::span<float>(std::span<const std::int64_t>)>& run_column);

/// Throws kInvalidArgument unless every origin is one of `rows` rows.
void check_origins(std::span<const std::int64_t> origins, std::int64_t rows);

/// Where the tensors of the caller lie.
const Ort::MemoryInfo& processor_memory();

/// A tensor over memory of the caller, which must outlive it.
template <typename T>
Ort::Value view_of(std::span<T> memory, const std::vector<std::int64_t>& shape) {
  return Ort::Value::CreateTensor<T>(processor_memory(), memory.data(), memory.size(), shape.data(),
                                     shape.size());
}

}  // namespace sampan::session
