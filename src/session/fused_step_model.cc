#include "session/fused_step_model.h"

#include <algorithm>
#include <numeric>

#include "base/fail.h"
#include "package/fused_layout.h"
#include "session/row_plan.h"
#include "session/step_checks.h"

namespace sampan::session {
namespace {

namespace fused = package::fused;

/// Sources are padded to a multiple of this: the runtime sums attention over groups of four source
/// positions and the rest in another order, so that a sentence would otherwise depend in its last
/// bits, and with rounded activations in more than these, on how long its neighbours are.
constexpr std::size_t kWidthGranule = 4;

/// The largest number of neighbouring rows that can read one slot: it divides the length of every
/// run of rows of one sentence.
std::size_t rows_of_slot(std::span<const std::int64_t> sentences) {
  std::size_t common = 0;
  for (std::size_t begin = 0; begin < sentences.size();) {
    std::size_t end = begin + 1;
    while (end < sentences.size() && sentences[end] == sentences[begin]) ++end;
    common = std::gcd(common, end - begin);
    begin = end;
  }
  return std::max<std::size_t>(common, 1);
}

}  // namespace

FusedStepModel::FusedStepModel(std::shared_ptr<const FusedGraphs> graphs)
    : graphs_(std::move(graphs)),
      cache_({graphs_->cache_tensors, graphs_->heads, graphs_->head_dim}),
      row_shape_(3),
      query_shape_(3),
      total_length_(1) {}

void FusedStepModel::start(const decode::SourceBatch& sources) {
  check_sources(sources, max_positions());
  sentences_.clear();
  slots_.clear();
  cross_.clear();
  encoded_ = Ort::Value{nullptr};
  cache_.reset(sources.size());
  bound_.valid = false;
  if (sources.empty()) return;
  encode(sources);
  sentences_.resize(sources.size());
  std::iota(sentences_.begin(), sentences_.end(), 0);
  slots_ = sentences_;
}

void FusedStepModel::encode(const decode::SourceBatch& sources) {
  PaddedIds batch = pad_ids(sources, graphs_->pad_token_id, kWidthGranule);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(batch.shape.back()));
  // Padding may reach beyond the last position; where it stands does not matter.
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = std::min(static_cast<std::int64_t>(i), max_positions() - 1);
  source_lengths_.clear();
  for (const auto& source : sources)
    source_lengths_.push_back(static_cast<std::int32_t>(source.size()));
  const std::int64_t slots = batch.shape.front();
  const Ort::Value ids = view_of(std::span(batch.ids), batch.shape);
  const Ort::Value places = view_of(std::span(positions), {std::ssize(positions)});
  const Ort::Value lengths = view_of(std::span(source_lengths_), {slots});
  std::vector<Ort::Value> outputs;
  graphs_->encoder->run({fused::kInputIds, fused::kPositions, fused::kSourceLengths},
                        {ids, places, lengths}, {fused::kCrossAttention}, outputs);
  encoded_ = std::move(outputs.front());
  const std::vector<std::int64_t> shape = {slots, graphs_->heads, batch.shape.back(),
                                           graphs_->head_dim};
  const auto elements = static_cast<std::size_t>(slots * graphs_->d_model * batch.shape.back());
  if (encoded_.GetTensorTypeAndShapeInfo().GetElementCount() != graphs_->cache_tensors * elements)
    base::fail(ErrorCode::kInvalidData,
               "{}: the cross-attention of {} sentences has another size than its inputs ask for; "
               "optimise the package again",
               graphs_->encoder->signature().file, slots);
  auto* data = encoded_.GetTensorMutableData<float>();
  for (std::size_t i = 0; i < graphs_->cache_tensors; ++i)
    cross_.emplace_back(view_of(std::span(data + i * elements, elements), shape));
}

std::span<float> FusedStepModel::step(std::span<const std::int64_t> tokens, std::int64_t length) {
  const std::int64_t past = cache_.longest();
  check_step({tokens, rows(), length, past}, *this);
  // The runtime takes several tokens at once in the first step alone.
  if (past > 0 && length > 1)
    return run_token_by_token({tokens, rows(), length, past}, stitched_logits_,
                              [this](auto column) { return run_decoder(column, 1); });
  return run_decoder(tokens, length);
}

std::span<float> FusedStepModel::run_decoder(std::span<const std::int64_t> tokens,
                                             std::int64_t length) {
  cache_.reserve(length);
  bind(length);
  std::copy(tokens.begin(), tokens.end(), ids_.begin());
  const auto count = static_cast<std::size_t>(length);
  for (std::size_t row = 0; row < sentences_.size(); ++row) {
    const std::int64_t past = cache_.length(row);
    for (std::size_t i = 0; i < count; ++i)
      positions_[row * count + i] = past + static_cast<std::int64_t>(i);
    last_positions_[row] = static_cast<std::int32_t>(past + length - 1);
  }
  total_length_.front() = static_cast<std::int32_t>(cache_.longest() + length);
  graphs_->decoder->run_into(graphs_->decoder_inputs, bound_.inputs, graphs_->decoder_outputs,
                             bound_.outputs);
  cache_.append(length);
  return {logits_.get(), tokens.size() * static_cast<std::size_t>(vocab_size())};
}

void FusedStepModel::bind(std::int64_t length) {
  if (bound_.valid && bound_.cache_version == cache_.version() && bound_.length == length &&
      bound_.slots == slots_.size())
    return;
  bound_ = {};
  const std::int64_t row_count = rows();
  const auto slot_count = std::ssize(slots_);
  const auto tokens = static_cast<std::size_t>(row_count * length);
  ids_.resize(tokens);
  positions_.resize(tokens);
  last_positions_.resize(sentences_.size());
  row_shape_ = {row_count, length, graphs_->d_model};
  query_shape_ = {slot_count, row_count / slot_count * length, graphs_->d_model};
  const std::size_t logits = tokens * static_cast<std::size_t>(vocab_size());
  if (logits > logits_room_) {
    logits_room_ = 0;
    logits_ = std::make_unique_for_overwrite<float[]>(logits);
    logits_room_ = logits;
  }

  std::vector<Ort::Value>& values = bound_.values;
  values.push_back(view_of(std::span(ids_), {row_count, length}));
  values.push_back(view_of(std::span(positions_), {row_count, length}));
  values.push_back(view_of(std::span(row_shape_), {3}));
  values.push_back(view_of(std::span(query_shape_), {3}));
  values.push_back(view_of(std::span(last_positions_), {row_count}));
  values.push_back(view_of(std::span(total_length_), {1}));
  values.push_back(view_of(std::span(source_lengths_), {slot_count}));
  const std::size_t first_past = values.size();
  for (std::size_t i = 0; i < graphs_->cache_tensors; ++i) values.push_back(cache_.tensor(i));
  for (const Ort::Value& value : values) bound_.inputs.push_back(value);
  for (const RowTensor& tensor : cross_) bound_.inputs.push_back(tensor.value());
  values.push_back(
      view_of(std::span<float>(logits_.get(), logits), {row_count * length, vocab_size()}));
  bound_.outputs.push_back(values.back());
  for (std::size_t i = 0; i < graphs_->cache_tensors; ++i)
    bound_.outputs.push_back(values[first_past + i]);
  bound_.cache_version = cache_.version();
  bound_.length = length;
  bound_.slots = slots_.size();
  bound_.valid = true;
}

void FusedStepModel::select(std::span<const std::int64_t> origins) {
  check_origins(origins, rows());
  std::vector<std::int64_t> sentences;
  sentences.reserve(origins.size());
  for (const std::int64_t origin : origins)
    sentences.push_back(sentences_[static_cast<std::size_t>(origin)]);
  cache_.select(origins);
  if (sentences == sentences_) return;
  select_slots(sentences);
  sentences_ = std::move(sentences);
}

void FusedStepModel::select_slots(std::span<const std::int64_t> sentences) {
  const std::size_t rows_each = rows_of_slot(sentences);
  std::vector<std::int64_t> slots;
  std::vector<std::int64_t> origins;
  std::vector<std::int32_t> lengths;
  for (std::size_t row = 0; row < sentences.size(); row += rows_each) {
    const std::int64_t sentence = sentences[row];
    const std::size_t slot = slots.size();
    const bool stays = slot < slots_.size() && slots_[slot] == sentence;
    const auto origin = stays ? static_cast<std::ptrdiff_t>(slot)
                              : std::ranges::find(slots_, sentence) - slots_.begin();
    slots.push_back(sentence);
    origins.push_back(origin);
    lengths.push_back(source_lengths_[static_cast<std::size_t>(origin)]);
  }
  if (slots == slots_) return;
  const RowPlan plan = plan_rows(origins);
  const std::int64_t old_slots = std::ssize(slots_);
  for (RowTensor& tensor : cross_) tensor.gather(plan, old_slots);
  slots_ = std::move(slots);
  source_lengths_ = std::move(lengths);
  bound_.valid = false;
}

}  // namespace sampan::session
