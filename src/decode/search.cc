#include "decode/search.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "decode/search_driver.h"
#include "decode/sentence_search.h"

namespace sampan::decode {

bool ends_target(const GenerationConfig& config, std::int64_t token) {
  return std::ranges::find(config.eos_token_id, token) != config.eos_token_id.end();
}

Hypothesis make_hypothesis(const GenerationConfig& config, const Prompt& prompt,
                           std::vector<std::int64_t> tokens, std::vector<float> log_probs) {
  Hypothesis result;
  double sum = 0.0;
  for (const float log_prob : log_probs) sum += static_cast<double>(log_prob);
  result.score = sum / std::pow(static_cast<double>(tokens.size()), config.length_penalty);
  const bool full =
      prompt.tokens.size() + tokens.size() >= static_cast<std::size_t>(prompt.max_length);
  const bool ended = ends_target(config, tokens.back()) && config.forced_eos_token_id.empty();
  result.finish_reason = full && !ended ? FinishReason::kLength : FinishReason::kEndOfSentence;
  result.tokens = std::move(tokens);
  result.log_probs = std::move(log_probs);
  return result;
}

void fail_without_candidate(std::size_t position) {
  base::fail(ErrorCode::kInvalidArgument,
             "no token may stand at position {} of the target: the options forbid them all; relax "
             "suppress_tokens, bad_words_ids, no_repeat_ngram_size or the forced tokens",
             position);
}

std::vector<std::vector<Hypothesis>> search(StepModel& model, std::span<const SearchInput> inputs,
                                            const GenerationConfig& config,
                                            const SearchControl& control) {
  require_valid(config);
  std::vector<std::vector<Hypothesis>> results(inputs.size());
  if (inputs.empty()) return results;
  const std::vector<Prompt> prompts = prompts_of(model, inputs, config);
  SearchTools tools{config, control, LogitsProcessors(config, model.vocab_size()), {}};
  SourceBatch sources;
  std::vector<std::unique_ptr<SentenceSearch>> searches;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(inputs[i].source);
    if (config.do_sample) {
      searches.push_back(make_sampling_search(tools, i, prompts[i], inputs[i].source));
    } else if (config.num_beams > 1) {
      searches.push_back(make_beam_search(tools, prompts[i]));
    } else {
      searches.push_back(make_greedy_search(tools, i, prompts[i]));
    }
  }
  SearchDriver(model, control).run(sources, prompts, searches);
  for (std::size_t i = 0; i < inputs.size(); ++i) results[i] = searches[i]->hypotheses();
  return results;
}

}  // namespace sampan::decode
