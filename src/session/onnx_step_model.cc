#include "session/onnx_step_model.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/fail.h"
#include "session/row_plan.h"
#include "session/step_checks.h"

namespace sampan::session {
namespace {

/// 1 for a token and 0 for padding, [sentence, width].
RowTensor mask_of(const decode::SourceBatch& sources, const std::vector<std::int64_t>& shape) {
  RowTensor mask = RowTensor::create(shape, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  auto* row = mask.tensor().GetTensorMutableData<std::int64_t>();
  const auto width = static_cast<std::size_t>(shape.back());
  for (const auto& source : sources) {
    std::fill_n(row, source.size(), 1);
    std::fill_n(row + source.size(), width - source.size(), 0);
    row += width;
  }
  return mask;
}

void append(const std::vector<RowTensor>& tensors, std::vector<const OrtValue*>& values) {
  for (const RowTensor& tensor : tensors) values.push_back(tensor.value());
}

}  // namespace

OnnxStepModel::OnnxStepModel(std::shared_ptr<const LoadedGraphs> graphs)
    : graphs_(std::move(graphs)) {}

void OnnxStepModel::start(const decode::SourceBatch& sources) {
  check_sources(sources, max_positions());
  rows_ = past_length_ = 0;
  sentences_.clear();
  attention_mask_ = RowTensor();
  hidden_states_ = RowTensor();
  self_attention_.clear();
  cross_attention_.clear();
  logits_ = Ort::Value{nullptr};
  if (sources.empty()) return;

  PaddedIds batch = pad_ids(sources, graphs_->pad_token_id);
  RowTensor mask = mask_of(sources, batch.shape);
  const Ort::Value ids = view_of(std::span(batch.ids), batch.shape);
  std::vector<Ort::Value> outputs;
  graphs_->encoder->run({kInputIds, kAttentionMask}, {ids, mask.value()}, {kLastHiddenState},
                        outputs);
  hidden_states_ = RowTensor(std::move(outputs.front()));
  attention_mask_ = std::move(mask);
  rows_ = batch.shape.front();
  sentences_.resize(sources.size());
  std::iota(sentences_.begin(), sentences_.end(), 0);
}

std::span<float> OnnxStepModel::step(std::span<const std::int64_t> tokens, std::int64_t length) {
  check_step({tokens, rows_, length, past_length_}, *this);
  // Exporters trace decoder_with_past_model with one new token, and some leave out the causal mask
  // that several would need. Prefixes and scoring come first, without a past, and lose nothing
  // here.
  if (past_length_ > 0 && length > 1)
    return run_token_by_token({tokens, rows_, length, past_length_}, stitched_logits_,
                              [this](auto column) { return run_decoder(column, 1); });
  return run_decoder(tokens, length);
}

std::vector<Ort::Value> OnnxStepModel::empty_cache() const {
  static float nothing = 0.0F;
  std::vector<Ort::Value> tensors;
  for (const auto* group : {&graphs_->contract.self_attention, &graphs_->contract.cross_attention})
    for (const CacheNames& names : *group)
      tensors.push_back(
          view_of(std::span<float>(&nothing, 0), {rows_, names.heads, 0, names.head_dim}));
  return tensors;
}

std::span<float> OnnxStepModel::run_decoder(std::span<const std::int64_t> tokens,
                                            std::int64_t length) {
  const bool first = past_length_ == 0;
  const DecoderRun& run = first ? graphs_->first_run : graphs_->next_run;
  logits_ = Ort::Value{nullptr};  // its memory serves the next logits
  std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  const Ort::Value input_ids = view_of(std::span(ids), {rows_, length});
  bool cached = !first;
  const Ort::Value use_cache_branch = view_of(std::span<bool>(&cached, 1), {1});
  std::vector<Ort::Value> no_past;

  std::vector<const OrtValue*> inputs = {input_ids, attention_mask_.value()};
  inputs.reserve(run.input_names.size());
  if (run.inputs.encoder_hidden_states) inputs.push_back(hidden_states_.value());
  if (run.inputs.use_cache_branch) inputs.push_back(use_cache_branch);
  if (run.inputs.past && first) {
    no_past = empty_cache();
    inputs.insert(inputs.end(), no_past.begin(), no_past.end());
  } else if (run.inputs.past) {
    append(self_attention_, inputs);
    append(cross_attention_, inputs);
  }
  std::vector<Ort::Value> outputs;
  run.graph->run(run.input_names, inputs, run.output_names, outputs);

  const std::size_t count = outputs.front().GetTensorTypeAndShapeInfo().GetElementCount();
  if (count != static_cast<std::size_t>(rows_ * length * vocab_size()))
    base::fail(ErrorCode::kInvalidData,
               "{}: the logits of {} rows of {} tokens have {} values, expected {} a token; export "
               "the package again",
               run.graph->signature().file, rows_, length, count, vocab_size());
  keep_outputs(outputs, first);
  past_length_ += length;
  return {logits_.GetTensorMutableData<float>(), count};
}

void OnnxStepModel::keep_outputs(std::vector<Ort::Value>& outputs, bool first) {
  const std::size_t grown = graphs_->contract.self_attention.size();
  self_attention_.resize(grown);
  for (std::size_t i = 0; i < grown; ++i) self_attention_[i] = RowTensor(std::move(outputs[1 + i]));
  if (first) {
    for (std::size_t i = 1 + grown; i < outputs.size(); ++i)
      cross_attention_.emplace_back(std::move(outputs[i]));
    if (!graphs_->next_run.inputs.encoder_hidden_states) hidden_states_ = RowTensor();
  }
  logits_ = std::move(outputs.front());
}

void OnnxStepModel::select(std::span<const std::int64_t> origins) {
  check_origins(origins, rows_);
  // Tensors of a sentence are the same in all of its rows: a row that takes the place of another of
  // the same sentence finds them there.
  std::vector<std::int64_t> sentences(origins.size());
  std::vector<std::int64_t> sentence_origins(origins.begin(), origins.end());
  for (std::size_t i = 0; i < origins.size(); ++i) {
    sentences[i] = sentences_[static_cast<std::size_t>(origins[i])];
    if (i < sentences_.size() && sentences_[i] == sentences[i])
      sentence_origins[i] = static_cast<std::int64_t>(i);
  }
  const RowPlan plan = plan_rows(origins);
  if (plan.moves.empty() && plan.rows == rows_) return;
  for (RowTensor& tensor : self_attention_) tensor.gather(plan, rows_);
  const RowPlan sentence_plan = plan_rows(sentence_origins);
  for (RowTensor& tensor : cross_attention_) tensor.gather(sentence_plan, rows_);
  for (RowTensor* tensor : {&attention_mask_, &hidden_states_})
    if (!tensor->empty()) tensor->gather(sentence_plan, rows_);
  sentences_ = std::move(sentences);
  rows_ = plan.rows;
}

}  // namespace sampan::session
