#include "session/contract.h"

#include <algorithm>
#include <string_view>

#include "base/fail.h"

namespace sampan::session {
namespace {

constexpr std::int64_t kNamed = ValueDemand::kNamed;
constexpr std::int64_t kAny = ValueDemand::kAny;
constexpr std::string_view kPastPrefix = "past_key_values.";
constexpr std::string_view kPresentPrefix = "present.";

bool is_self_attention(std::string_view name) { return name.find(".decoder.") != name.npos; }
bool is_cross_attention(std::string_view name) { return name.find(".encoder.") != name.npos; }

[[noreturn]] void fail_unknown_input(const GraphSignature& graph, const ValueSignature& value) {
  base::fail(ErrorCode::kInvalidData,
             "{}: input '{}' ({}) is not one of an encoder-decoder translation graph; export the "
             "package again with sampan or optimum (text2text-generation-with-past)",
             graph.file, value.name, to_string(value));
}

/// Checks all inputs but the cache's, and tells which are there.
DecoderInputs read_inputs(const GraphSignature& graph) {
  DecoderInputs inputs;
  require_input(graph, kInputIds, {"int64", {kNamed, kNamed}});
  require_input(graph, kEncoderAttentionMask, {"int64", {kNamed, kNamed}});
  inputs.encoder_attention_mask = true;
  for (const ValueSignature& value : graph.inputs) {
    if (value.name == kInputIds || value.name == kEncoderAttentionMask) continue;
    if (value.name == kEncoderHiddenStates) {
      require_input(graph, value.name, {"float32", {kNamed, kNamed, kAny}});
      inputs.encoder_hidden_states = true;
    } else if (value.name == kUseCacheBranch) {
      require_input(graph, value.name, {"bool", {1}});
      inputs.use_cache_branch = true;
    } else if (value.name.starts_with(kPastPrefix) &&
               (is_self_attention(value.name) || is_cross_attention(value.name))) {
      inputs.past = true;
    } else {
      fail_unknown_input(graph, value);
    }
  }
  return inputs;
}

/// The first number that the signatures give for an axis, or -1; they must not contradict each
/// other.
std::int64_t agreed_dim(const GraphSignature& graph, const ValueSignature& value, std::size_t axis,
                        std::int64_t known) {
  const std::int64_t dim = value.dims[axis];
  if (dim < 0) return known;
  if (dim == 0 || (known >= 0 && known != dim))
    base::fail(ErrorCode::kInvalidData,
               "{}: '{}' is {}, but axis {} is {} elsewhere; the graphs of the package do not "
               "belong together, export it again",
               graph.file, value.name, to_string(value), axis, known);
  return dim;
}

CacheNames read_cache_tensor(const GraphSignature& first, const GraphSignature& next,
                             const ValueSignature& past) {
  CacheNames names;
  names.past = past.name;
  names.present = std::string(kPresentPrefix) + past.name.substr(kPastPrefix.size());
  names.heads = names.head_dim = -1;
  const ValueDemand demand{"float32", {kNamed, kAny, kNamed, kAny}};
  auto agree = [&](const GraphSignature& graph, const ValueSignature& value) {
    names.heads = agreed_dim(graph, value, 1, names.heads);
    names.head_dim = agreed_dim(graph, value, 3, names.head_dim);
  };
  agree(next, require_input(next, past.name, demand));
  agree(first, require_output(first, names.present, demand));
  if (is_self_attention(past.name)) agree(next, require_output(next, names.present, demand));
  return names;
}

std::int64_t read_vocab_size(const GraphSignature& first, const GraphSignature& next) {
  const ValueDemand demand{"float32", {kNamed, kAny, kAny}};
  std::int64_t vocab_size = -1;
  for (const GraphSignature* graph : {&first, &next})
    vocab_size = agreed_dim(*graph, require_output(*graph, kLogits, demand), 2, vocab_size);
  if (vocab_size < 0)
    base::fail(ErrorCode::kInvalidData,
               "{}: output 'logits' does not tell the size of the vocabulary; expected a number on "
               "axis 2, export the package again",
               first.file);
  return vocab_size;
}

}  // namespace

void check_encoder(const GraphSignature& graph) {
  require_input(graph, kInputIds, {"int64", {kNamed, kNamed}});
  require_input(graph, kAttentionMask, {"int64", {kNamed, kNamed}});
  for (const ValueSignature& value : graph.inputs)
    if (value.name != kInputIds && value.name != kAttentionMask) fail_unknown_input(graph, value);
  require_output(graph, kLastHiddenState, {"float32", {kNamed, kNamed, kAny}});
}

DecoderContract read_decoder_contract(const GraphSignature& first, const GraphSignature& next) {
  DecoderContract contract;
  contract.first = read_inputs(first);
  contract.next = read_inputs(next);
  contract.vocab_size = read_vocab_size(first, next);
  for (const ValueSignature& value : next.inputs) {
    if (!value.name.starts_with(kPastPrefix)) continue;
    auto& group =
        is_self_attention(value.name) ? contract.self_attention : contract.cross_attention;
    group.push_back(read_cache_tensor(first, next, value));
  }
  if (contract.self_attention.empty() || contract.cross_attention.empty())
    base::fail(ErrorCode::kInvalidData,
               "{}: no inputs 'past_key_values.N.decoder.key' and 'past_key_values.N.encoder.key'; "
               "export the package again with sampan or optimum (text2text-generation-with-past)",
               next.file);
  const bool same_graph = first.file == next.file;
  if (!same_graph && (contract.first.past || contract.first.use_cache_branch))
    base::fail(
        ErrorCode::kInvalidData,
        "{}: a decoder for the first step takes no past_key_values; the files of the package "
        "are mixed up, export it again",
        first.file);
  require_input(first, kEncoderHiddenStates, {"float32", {kNamed, kNamed, kAny}});
  if (same_graph != contract.next.use_cache_branch)
    base::fail(
        ErrorCode::kInvalidData,
        "{}: input 'use_cache_branch' (bool [1]) belongs to a merged decoder and to no other; "
        "the files of the package are mixed up, export it again",
        next.file);
  if (same_graph)
    for (const auto* group : {&contract.self_attention, &contract.cross_attention})
      for (const CacheNames& names : *group)
        if (names.heads < 0 || names.head_dim < 0)
          base::fail(ErrorCode::kInvalidData,
                     "{}: input '{}' does not tell heads and head_dim; expected numbers on axes 1 "
                     "and 3, export the package again",
                     next.file, names.past);
  return contract;
}

}  // namespace sampan::session
