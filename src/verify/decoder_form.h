#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/step_model.h"
#include "package/package.h"
#include "session/contract.h"
#include "session/graph_runner.h"

namespace sampan::verify {

/// Sentences padded to one width, as the graphs take them: ids and mask [sentence, position].
struct PaddedSources {
  PaddedSources(const decode::SourceBatch& sources, std::int64_t pad_token_id);
  session::NamedTensor ids;
  session::NamedTensor mask;
};

/// Tokens [row][token] as the graphs take them.
session::NamedTensor ids_tensor(const std::vector<std::vector<std::int64_t>>& tokens);

/// What a decoder graph answered.
struct DecoderOutputs {
  session::NamedTensor logits;
  std::vector<session::NamedTensor> self;   ///< key and value of each layer, in turn
  std::vector<session::NamedTensor> cross;  ///< likewise; empty unless the first graph made them
};

/// Everything a later step is fed with beside its tokens.
struct DecoderPast {
  std::vector<session::NamedTensor> self;
  std::vector<session::NamedTensor> cross;
};

/// One of the two ways in which a package decodes: with decoder_model and decoder_with_past_model,
/// or with both branches of decoder_model_merged. Immutable, thread-safe.
class DecoderForm {
 public:
  /// Throws as `session::SequenceModel::load`.
  DecoderForm(const package::Package& package, bool merged, const session::SessionOptions& options);

  /// `tokens` is [row, token]; `states` are the encoder's.
  DecoderOutputs first(const std::vector<std::vector<std::int64_t>>& tokens,
                       const session::NamedTensor& mask, const session::NamedTensor& states) const;
  DecoderOutputs next(const std::vector<std::vector<std::int64_t>>& tokens,
                      const session::NamedTensor& mask, const session::NamedTensor& states,
                      const DecoderPast& past) const;
  /// A past without positions beside the cross-attention of a first step.
  DecoderPast no_past(const DecoderOutputs& first, std::int64_t rows) const;

  const session::DecoderContract& contract() const { return contract_; }

 private:
  DecoderOutputs run(const session::GraphRunner& graph,
                     const std::vector<session::NamedTensor>& inputs, bool first) const;
  std::vector<session::NamedTensor> inputs_of(const session::DecoderInputs& inputs,
                                              const std::vector<std::vector<std::int64_t>>& tokens,
                                              const session::NamedTensor& mask,
                                              const session::NamedTensor& states,
                                              bool cached) const;

  std::unique_ptr<const session::GraphRunner> first_;
  std::unique_ptr<const session::GraphRunner> next_;  // null: `first_` is merged
  session::DecoderContract contract_;
};

}  // namespace sampan::verify
