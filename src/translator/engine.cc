#include "translator/engine.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/fail.h"
#include "base/utf8.h"
#include "decode/scoring.h"
#include "decode/target_guard.h"
#include "translator/batching.h"
#include "translator/sentence_search.h"
#include "translator/source_text.h"

namespace sampan::translator {
namespace {

using Hypotheses = std::vector<decode::Hypothesis>;

// Puts candidate `rank` of a text together from that candidate of each of its sentences.
Translation assemble(const SourceText& source, std::span<const Hypotheses> found, std::size_t rank,
                     const text::Tokenizer& tokenizer, std::span<const std::int64_t> prefix) {
  Translation result;
  result.truncated = source.cut();
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const decode::Hypothesis& hypothesis = found[i][rank];
    std::vector<std::int64_t> tokens(prefix.begin(), prefix.end());
    tokens.insert(tokens.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
    sentences.push_back(tokenizer.decode(tokens));
    result.score += hypothesis.score / static_cast<double>(found.size());
    result.truncated |= hypothesis.finish_reason == decode::FinishReason::kLength;
    result.repeats |= decode::repeats_unit(tokens) && !decode::repeats_unit(source.sentences()[i]);
    result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
  }
  text::AssembledText text = source.plan().assemble(sentences);
  result.text = std::move(text.text);
  result.sentences = std::move(text.sentences);
  return result;
}

void throw_if_any(const std::vector<std::string>& problems) {
  if (!problems.empty()) base::fail(ErrorCode::kInvalidArgument, "{}", fmt::join(problems, "; "));
}

}  // namespace

Engine::Engine(EngineParts parts) : parts_(std::move(parts)), pool_(parts_.new_step_model) {
  parts_.defaults.max_length = std::min(parts_.defaults.max_length, parts_.max_positions);
}

TranslateOptions Engine::default_options() const {
  TranslateOptions options;
  options.generation = parts_.defaults;
  return options;
}

std::vector<std::string> Engine::target_languages() const {
  return parts_.tokenizer->target_languages();
}

void Engine::validate(const TranslateOptions& options) const {
  std::vector<std::string> problems = options.validate();
  if (options.generation.max_length > parts_.max_positions)
    problems.push_back(fmt::format("max_length is {}, but the model has {} positions",
                                   options.generation.max_length, parts_.max_positions));
  const std::vector<std::string> languages = target_languages();
  const std::string& language = options.target_language;
  if (!language.empty() && !std::ranges::binary_search(languages, language)) {
    problems.push_back(languages.empty()
                           ? fmt::format("target_language is '{}', but the model has one target "
                                         "language; leave it out",
                                         language)
                           : fmt::format("target_language '{}' is not one of {}", language,
                                         fmt::join(languages, ", ")));
  }
  const bool language_forced =
      !languages.empty() && parts_.tokenizer->forced_bos_token_id(languages.front()).has_value();
  if (language.empty() && language_forced && !options.generation.forced_bos_token_id)
    problems.push_back(
        fmt::format("target_language is missing; choose one of {}", fmt::join(languages, ", ")));
  throw_if_any(problems);
}

std::vector<std::vector<Translation>> Engine::run(std::span<const std::string> texts,
                                                  TranslateOptions options) const {
  validate(options);
  const text::Tokenizer& tokenizer = *parts_.tokenizer;
  if (const auto forced = tokenizer.forced_bos_token_id(options.target_language))
    options.generation.forced_bos_token_id = forced;
  const std::vector<std::int64_t> prefix = tokenizer.encode_target(options.target_prefix);
  if (static_cast<std::int64_t>(prefix.size()) + 2 > parts_.max_positions)
    base::fail(ErrorCode::kInvalidArgument,
               "target_prefix has {} tokens, but the model has {} positions; shorten it",
               prefix.size(), parts_.max_positions);

  const SourceOptions source_options{options.target_language, options.split_sentences,
                                     static_cast<std::size_t>(parts_.max_positions)};
  std::deque<SourceText> sources;
  std::vector<SentenceJob> jobs;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const SourceText& source = sources.emplace_back(texts[text], tokenizer, source_options);
    for (const auto& ids : source.sentences()) jobs.push_back({text, ids});
  }

  SentenceSearch search{options, prefix, parts_.max_positions, {}};
  if (options.on_token)
    search.on_token = [&](std::size_t text, std::int64_t token) {
      options.on_token(text, tokenizer.target_pieces(std::span(&token, 1)).front());
    };
  const std::vector<Hypotheses> found = search_sentences(pool_, jobs, search);

  std::vector<std::vector<Translation>> results;
  std::span<const Hypotheses> rest = found;
  for (const SourceText& source : sources) {
    const auto of_text = rest.first(source.sentences().size());
    rest = rest.subspan(of_text.size());
    const std::size_t candidates = of_text.empty() ? 1 : of_text.front().size();
    std::vector<Translation>& translations = results.emplace_back();
    for (std::size_t rank = 0; rank < candidates; ++rank)
      translations.push_back(assemble(source, of_text, rank, tokenizer, prefix));
  }
  return results;
}

std::vector<Translation> Engine::translate(std::span<const std::string> texts,
                                           const TranslateOptions& options) const {
  throw_if_any(options.validate());
  TranslateOptions single = options;
  single.generation.num_return_sequences = 1;
  std::vector<Translation> results;
  for (std::vector<Translation>& candidates : run(texts, std::move(single)))
    results.push_back(std::move(candidates.front()));
  return results;
}

std::vector<std::vector<Translation>> Engine::translate_n_best(
    std::span<const std::string> texts, const TranslateOptions& options) const {
  TranslateOptions whole = options;
  whole.split_sentences = false;
  return run(texts, std::move(whole));
}

std::vector<Translator::TargetScore> Engine::score(std::span<const std::string> sources,
                                                   std::span<const std::string> targets,
                                                   const TranslateOptions& options) const {
  if (sources.size() != targets.size())
    base::fail(ErrorCode::kInvalidArgument, "{} sources but {} targets; give one for each",
               sources.size(), targets.size());
  validate(options);
  const text::Tokenizer& tokenizer = *parts_.tokenizer;
  const std::int64_t end_of_sentence = options.generation.eos_token_id.front();
  std::vector<std::int64_t> prefix;
  if (const auto forced = tokenizer.forced_bos_token_id(options.target_language))
    prefix.push_back(*forced);

  std::vector<Translator::TargetScore> results(sources.size());
  std::vector<decode::SearchInput> inputs(sources.size());
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::string source = sources[i];
    std::string target = targets[i];
    base::replace_invalid_utf8(source);
    base::replace_invalid_utf8(target);
    inputs[i].source = tokenizer.encode(source, options.target_language);
    inputs[i].prefix = prefix;
    results[i].tokens = tokenizer.encode_target(target);
    results[i].tokens.push_back(end_of_sentence);
    const std::size_t length = std::max(inputs[i].source.size(), results[i].tokens.size());
    if (length > static_cast<std::size_t>(parts_.max_positions))
      base::fail(ErrorCode::kInvalidArgument,
                 "pair {} has {} tokens, but the model has {} positions; shorten it", i + 1, length,
                 parts_.max_positions);
    lengths.push_back(length);
  }

  decode::SearchControl control{options.stop, options.deadline, {}};
  auto model = pool_.take();
  for (const auto& batch : batches_by_length(lengths, {options.batch_size, options.batch_tokens})) {
    std::vector<decode::SearchInput> batch_inputs;
    std::vector<std::vector<std::int64_t>> batch_targets;
    for (const std::size_t i : batch) {
      batch_inputs.push_back(std::move(inputs[i]));
      batch_targets.push_back(results[i].tokens);
    }
    auto log_probs =
        decode::score_targets(*model, batch_inputs, batch_targets, options.generation, control);
    for (std::size_t i = 0; i < batch.size(); ++i)
      results[batch[i]].log_probs = std::move(log_probs[i]);
  }
  pool_.give_back(std::move(model));
  return results;
}

}  // namespace sampan::translator
