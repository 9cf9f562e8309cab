#include "translator/sentence_search.h"

#include <utility>

#include "translator/batching.h"
#include "translator/target_limits.h"

namespace sampan::translator {
namespace {

std::vector<std::vector<std::size_t>> plan_batches(std::span<const SentenceJob> jobs,
                                                   const SentenceSearch& search) {
  std::vector<std::vector<std::size_t>> batches;
  if (search.on_token) {
    // Tokens that are watched as they come should come in reading order.
    for (std::size_t job = 0; job < jobs.size(); ++job) batches.push_back({job});
    return batches;
  }
  std::vector<std::size_t> lengths;
  for (const SentenceJob& job : jobs) lengths.push_back(job.source.size());
  return batches_by_length(lengths, {search.options.batch_size, search.options.batch_tokens});
}

decode::SearchInput search_input(const SentenceJob& job, const SentenceSearch& search) {
  decode::SearchInput input;
  input.source = job.source;
  input.prefix.assign(search.prefix.begin(), search.prefix.end());
  input.max_length =
      target_limit(search.options.generation, {.source_tokens = job.source.size(),
                                               .prefix_tokens = search.prefix.size(),
                                               .max_positions = search.max_positions,
                                               .length_guard = search.options.length_guard});
  return input;
}

}  // namespace

std::vector<std::vector<decode::Hypothesis>> search_sentences(StepModelPool& pool,
                                                              std::span<const SentenceJob> jobs,
                                                              const SentenceSearch& search) {
  std::vector<std::vector<decode::Hypothesis>> results(jobs.size());
  if (jobs.empty()) return results;
  auto model = pool.take();
  for (const std::vector<std::size_t>& batch : plan_batches(jobs, search)) {
    std::vector<decode::SearchInput> inputs;
    for (const std::size_t job : batch) inputs.push_back(search_input(jobs[job], search));
    decode::SearchControl control;
    control.stop = search.options.stop;
    control.deadline = search.options.deadline;
    if (search.on_token)
      control.on_token = [&](std::size_t sentence, std::int64_t token) {
        search.on_token(jobs[batch[sentence]].text, token);
      };
    auto found = decode::search(*model, inputs, search.options.generation, control);
    for (std::size_t i = 0; i < batch.size(); ++i) results[batch[i]] = std::move(found[i]);
  }
  pool.give_back(std::move(model));
  return results;
}

}  // namespace sampan::translator
