#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/search.h"
#include "fake_model.h"

namespace sampan::decode {

/// Token roles in the tests' small vocabularies: 0 ends a target, 1 starts the decoder and pads.
inline GenerationConfig small_config(std::int64_t num_beams = 1) {
  GenerationConfig config;
  config.num_beams = num_beams;
  config.max_length = 24;
  config.decoder_start_token_id = 1;
  config.pad_token_id = 1;
  config.eos_token_id = {0};
  config.bad_words_ids = {{1}};
  config.forced_eos_token_id = {0};
  config.renormalize_logits = true;
  return config;
}

/// Sentences of different lengths and content.
inline std::vector<SearchInput> small_inputs(std::int64_t count, std::int64_t first = 0) {
  std::vector<SearchInput> inputs;
  for (std::int64_t i = first; i < first + count; ++i) {
    SearchInput input;
    for (std::int64_t j = 0; j <= i % 5; ++j) input.source.push_back(2 + (i * 7 + j) % 11);
    input.source.push_back(0);
    input.source.push_back(i);
    inputs.push_back(input);
  }
  return inputs;
}

/// The tokens of the best hypothesis of each sentence.
inline std::vector<std::vector<std::int64_t>> best_tokens(
    const std::vector<std::vector<Hypothesis>>& results) {
  std::vector<std::vector<std::int64_t>> tokens;
  for (const auto& hypotheses : results) tokens.push_back(hypotheses.at(0).tokens);
  return tokens;
}

/// The code of the error that `action` throws; fails the test if it throws none.
template <typename Action>
ErrorCode error_code_of(Action&& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  throw std::logic_error("no error was thrown");
}

}  // namespace sampan::decode
