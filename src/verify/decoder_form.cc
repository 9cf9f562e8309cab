#include "verify/decoder_form.h"

#include <algorithm>
#include <utility>

namespace sampan::verify {
namespace {

using session::NamedTensor;

std::vector<NamedTensor> empty_tensors(const std::vector<session::CacheNames>& names,
                                       std::int64_t rows) {
  std::vector<NamedTensor> tensors;
  for (const session::CacheNames& name : names)
    tensors.push_back({name.past, {rows, name.heads, 0, name.head_dim}, std::vector<float>()});
  return tensors;
}

void append_past(const std::vector<session::CacheNames>& names, std::vector<NamedTensor> tensors,
                 std::vector<NamedTensor>& inputs) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].name = names.at(i).past;
    inputs.push_back(std::move(tensors[i]));
  }
}

}  // namespace

session::NamedTensor ids_tensor(const std::vector<std::vector<std::int64_t>>& tokens) {
  std::vector<std::int64_t> ids;
  for (const auto& row : tokens) ids.insert(ids.end(), row.begin(), row.end());
  return {
      session::kInputIds,
      {static_cast<std::int64_t>(tokens.size()), static_cast<std::int64_t>(tokens.front().size())},
      std::move(ids)};
}

PaddedSources::PaddedSources(const decode::SourceBatch& sources, std::int64_t pad_token_id) {
  std::size_t width = 0;
  for (const auto& source : sources) width = std::max(width, source.size());
  std::vector<std::int64_t> padded(sources.size() * width, pad_token_id);
  std::vector<std::int64_t> ones(padded.size(), 0);
  for (std::size_t row = 0; row < sources.size(); ++row)
    for (std::size_t i = 0; i < sources[row].size(); ++i) {
      padded[row * width + i] = sources[row][i];
      ones[row * width + i] = 1;
    }
  const tensor::Shape shape = {static_cast<std::int64_t>(sources.size()),
                               static_cast<std::int64_t>(width)};
  ids = {session::kInputIds, shape, std::move(padded)};
  mask = {session::kAttentionMask, shape, std::move(ones)};
}

DecoderForm::DecoderForm(const package::Package& package, bool merged,
                         const session::SessionOptions& options) {
  using package::GraphRole;
  const auto load = [&](GraphRole role) {
    return std::make_unique<const session::GraphRunner>(package.graphs.at(role), options);
  };
  first_ = load(merged ? GraphRole::kDecoderMerged : GraphRole::kDecoder);
  if (!merged) next_ = load(GraphRole::kDecoderWithPast);
  contract_ =
      session::read_decoder_contract(first_->signature(), (merged ? first_ : next_)->signature());
}

std::vector<NamedTensor> DecoderForm::inputs_of(
    const session::DecoderInputs& inputs, const std::vector<std::vector<std::int64_t>>& tokens,
    const NamedTensor& mask, const NamedTensor& states, bool cached) const {
  std::vector<NamedTensor> tensors = {ids_tensor(tokens)};
  if (inputs.encoder_attention_mask) {
    tensors.push_back(mask);
    tensors.back().name = session::kEncoderAttentionMask;
  }
  if (inputs.encoder_hidden_states) {
    tensors.push_back(states);
    tensors.back().name = session::kEncoderHiddenStates;
  }
  if (inputs.use_cache_branch)
    tensors.push_back({session::kUseCacheBranch, {1}, std::vector<std::uint8_t>{cached}});
  return tensors;
}

DecoderOutputs DecoderForm::run(const session::GraphRunner& graph,
                                const std::vector<NamedTensor>& inputs, bool first) const {
  std::vector<std::string> names = {session::kLogits};
  for (const auto& name : contract_.self_attention) names.push_back(name.present);
  if (first)
    for (const auto& name : contract_.cross_attention) names.push_back(name.present);
  std::vector<NamedTensor> made = graph.run(inputs, names);
  DecoderOutputs outputs;
  outputs.logits = std::move(made.front());
  const std::size_t self = contract_.self_attention.size();
  for (std::size_t i = 1; i < made.size(); ++i)
    (i <= self ? outputs.self : outputs.cross).push_back(std::move(made[i]));
  return outputs;
}

DecoderOutputs DecoderForm::first(const std::vector<std::vector<std::int64_t>>& tokens,
                                  const NamedTensor& mask, const NamedTensor& states) const {
  std::vector<NamedTensor> inputs = inputs_of(contract_.first, tokens, mask, states, false);
  if (contract_.first.past)
    for (const auto* names : {&contract_.self_attention, &contract_.cross_attention})
      append_past(*names, empty_tensors(*names, static_cast<std::int64_t>(tokens.size())), inputs);
  return run(*first_, inputs, true);
}

DecoderOutputs DecoderForm::next(const std::vector<std::vector<std::int64_t>>& tokens,
                                 const NamedTensor& mask, const NamedTensor& states,
                                 const DecoderPast& past) const {
  std::vector<NamedTensor> inputs = inputs_of(contract_.next, tokens, mask, states, true);
  append_past(contract_.self_attention, past.self, inputs);
  append_past(contract_.cross_attention, past.cross, inputs);
  return run(next_ ? *next_ : *first_, inputs, false);
}

DecoderPast DecoderForm::no_past(const DecoderOutputs& first, std::int64_t rows) const {
  return {empty_tensors(contract_.self_attention, rows), first.cross};
}

}  // namespace sampan::verify
