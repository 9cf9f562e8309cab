#include "session/step_checks.h"

#include <algorithm>

#include "base/fail.h"

namespace sampan::session {

void check_sources(const decode::SourceBatch& sources, std::int64_t max_positions) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t length = sources[i].size();
    if (length == 0)
      base::fail(ErrorCode::kInvalidArgument,
                 "source {} of the batch has no tokens; pass at least the end of sentence", i);
    if (length > static_cast<std::size_t>(max_positions))
      base::fail(ErrorCode::kInvalidArgument,
                 "source {} of the batch has {} tokens, the model has {} positions; split the "
                 "sentence",
                 i, length, max_positions);
    for (const std::int64_t id : sources[i])
      if (id < 0)
        base::fail(ErrorCode::kInvalidArgument,
                   "source {} of the batch has the token {}; ids are 0 or more", i, id);
  }
}

PaddedIds pad_ids(const decode::SourceBatch& sources, std::int64_t pad_token_id,
                  std::size_t granule) {
  std::size_t width = 0;
  for (const auto& source : sources) width = std::max(width, source.size());
  width = (width + granule - 1) / granule * granule;
  PaddedIds batch;
  batch.shape = {static_cast<std::int64_t>(sources.size()), static_cast<std::int64_t>(width)};
  batch.ids.assign(sources.size() * width, pad_token_id);
  for (std::size_t i = 0; i < sources.size(); ++i)
    std::copy(sources[i].begin(), sources[i].end(), batch.ids.data() + i * width);
  return batch;
}

void check_step(const StepTokens& step, const decode::StepModel& model) {
  if (step.rows == 0)
    base::fail(ErrorCode::kInvalidArgument, "a step without rows; start with sentences first");
  if (step.length < 1 || step.length > model.max_positions() - step.past_length)
    base::fail(ErrorCode::kInvalidArgument,
               "{} tokens behind {} make a target longer than the model's {} positions; lower the "
               "maximum length",
               step.length, step.past_length, model.max_positions());
  if (step.tokens.size() != static_cast<std::size_t>(step.rows * step.length))
    base::fail(ErrorCode::kInvalidArgument, "{} tokens for {} rows of {}; pass one for each",
               step.tokens.size(), step.rows, step.length);
  for (const std::int64_t token : step.tokens)
    if (token < 0 || token >= model.vocab_size())
      base::fail(ErrorCode::kInvalidArgument,
                 "target token {} is not in the vocabulary of {} entries", token,
                 model.vocab_size());
}

std::span<float> run_token_by_token(
    const StepTokens& step, std::vector<float>& logits,
    const std::function<std::span<float>(std::span<const std::int64_t>)>& run_column) {
  const auto rows = static_cast<std::size_t>(step.rows);
  const auto length = static_cast<std::size_t>(step.length);
  std::vector<float> stitched;
  std::vector<std::int64_t> column(rows);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t row = 0; row < rows; ++row) column[row] = step.tokens[row * length + i];
    const std::span<float> made = run_column(column);
    const std::size_t width = made.size() / rows;
    stitched.resize(rows * length * width);
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(made.data() + row * width, width, stitched.data() + (row * length + i) * width);
  }
  logits = std::move(stitched);
  return logits;
}

void check_origins(std::span<const std::int64_t> origins, std::int64_t rows) {
  for (std::size_t i = 0; i < origins.size(); ++i)
    if (origins[i] < 0 || origins[i] >= rows)
      base::fail(ErrorCode::kInvalidArgument, "row {} cannot continue row {} of {}", i, origins[i],
                 rows);
}

const Ort::MemoryInfo& processor_memory() {
  static const Ort::MemoryInfo kMemory =
      Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  return kMemory;
}

}  // namespace sampan::session
