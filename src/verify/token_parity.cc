#include "verify/token_parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/fail.h"
#include "decode/search.h"
#include "decode/target_guard.h"
#include "translator/batching.h"
#include "translator/target_limits.h"
#include "verify/reference_step_model.h"

namespace sampan::verify {
namespace {

using decode::Hypothesis;
using Lines = std::span<const std::vector<std::int64_t>>;

constexpr std::size_t kSentencesAtATime = 16;
constexpr std::int64_t kUsualBeams = 4;

GenerationConfig search_config(const GenerationConfig& defaults, std::int64_t beams) {
  GenerationConfig config = defaults;
  config.num_beams = beams;
  config.num_return_sequences = 1;
  config.do_sample = false;
  return config;
}

/// Both answers to each line.
struct Answers {
  std::vector<Hypothesis> graphs, reference;
};

class LineTranslator {
 public:
  explicit LineTranslator(const TokenParityInput& input) : input_(input) {
    session::SessionOptions options = input.session;
    options.intra_op_threads = 1;  // lines run side by side instead
    graphs_ = session::SequenceModel::load(input.package, options);
    for (const auto& line : input.lines) lengths_.push_back(line.size());
  }

  Answers translate(std::int64_t beams, std::string_view name) const {
    const GenerationConfig ours = search_config(input_.defaults, beams);
    const GenerationConfig theirs = search_config(input_.reference_defaults, beams);
    const auto batches = translator::batches_by_length(lengths_, {.sentences = kSentencesAtATime});
    Answers answers;
    answers.graphs.resize(lengths_.size());
    answers.reference.resize(lengths_.size());
    std::atomic<std::size_t> next = 0;
    std::size_t done = 0;
    std::mutex mutex;
    const auto work = [&] {
      const auto on_graphs = graphs_->new_step_model();
      ReferenceStepModel on_reference(input_.reference, on_graphs->max_positions());
      for (std::size_t i = next++; i < batches.size(); i = next++) {
        search(*on_graphs, batches[i], ours, answers.graphs);
        search(on_reference, batches[i], theirs, answers.reference);
        const std::lock_guard lock(mutex);
        done += batches[i].size();
        if (input_.progress)
          input_.progress(fmt::format("{}: {} of {} lines", name, done, lengths_.size()));
      }
    };
    // A worker that fails lets the others finish what they took: futures wait.
    std::vector<std::future<void>> workers;
    const std::size_t count =
        std::min(static_cast<std::size_t>(std::max(1, input_.threads)), batches.size());
    for (std::size_t i = 0; i < count; ++i)
      workers.push_back(std::async(std::launch::async, [&] {
        try {
          work();
        } catch (...) {
          next = batches.size();
          throw;
        }
      }));
    for (auto& worker : workers) worker.wait();
    for (auto& worker : workers) worker.get();
    return answers;
  }

 private:
  void search(decode::StepModel& model, const std::vector<std::size_t>& batch,
              const GenerationConfig& config, std::vector<Hypothesis>& answers) const {
    std::vector<decode::SearchInput> inputs;
    for (const std::size_t line : batch) {
      decode::SearchInput& sentence = inputs.emplace_back();
      sentence.source = input_.lines[line];
      sentence.max_length = translator::target_limit(
          config,
          {.source_tokens = sentence.source.size(), .max_positions = model.max_positions()});
    }
    decode::SearchControl control;
    control.stop = input_.stop;
    auto found = decode::search(model, inputs, config, control);
    for (std::size_t i = 0; i < batch.size(); ++i) answers[batch[i]] = std::move(found[i].front());
  }

  const TokenParityInput& input_;
  std::shared_ptr<const session::SequenceModel> graphs_;
  std::vector<std::size_t> lengths_;
};

std::string first_difference(std::size_t line, const Hypothesis& graphs,
                             const Hypothesis& reference) {
  const auto [ours, theirs] = std::ranges::mismatch(graphs.tokens, reference.tokens);
  const auto token = [](auto place, const std::vector<std::int64_t>& tokens) {
    return place == tokens.end() ? std::string("nothing") : std::to_string(*place);
  };
  return fmt::format("line {} differs at its token {}: {} for {}", line + 1,
                     ours - graphs.tokens.begin() + 1, token(ours, graphs.tokens),
                     token(theirs, reference.tokens));
}

Check compare_tokens(const std::string& name, const Answers& answers, double allowed) {
  std::size_t different = 0;
  std::size_t near_ties = 0;
  std::string first;
  for (std::size_t line = 0; line < answers.graphs.size(); ++line) {
    const Hypothesis& graphs = answers.graphs[line];
    const Hypothesis& reference = answers.reference[line];
    if (graphs.tokens == reference.tokens) continue;
    if (reference.smallest_margin < kNearTie) {
      ++near_ties;
      continue;
    }
    ++different;
    if (first.empty()) first = first_difference(line, graphs, reference);
  }
  std::string detail =
      fmt::format("of {} lines have other tokens than the reference", answers.graphs.size());
  if (near_ties > 0) detail += fmt::format(", {} more do at near-ties", near_ties);
  if (!first.empty()) detail += "; " + first;
  return limited(name, static_cast<double>(different),
                 std::floor(allowed * static_cast<double>(answers.graphs.size())),
                 std::move(detail));
}

std::int64_t repeating_lines(Lines lines, const std::vector<Hypothesis>& answers) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (decode::repeats_unit(answers[i].tokens) && !decode::repeats_unit(lines[i])) ++count;
  return count;
}

Check compare_repeats(const std::string& name, Lines lines, const Answers& answers, double more) {
  const auto share = [&](const std::vector<Hypothesis>& hypotheses) {
    return static_cast<double>(repeating_lines(lines, hypotheses)) /
           static_cast<double>(lines.size());
  };
  return limited(name, share(answers.graphs), share(answers.reference) + more,
                 "share of lines that repeat themselves; the limit starts from the reference's");
}

Check count_padding(const std::string& name, const Answers& answers, std::int64_t pad_token_id) {
  std::int64_t found = 0;
  for (const Hypothesis& hypothesis : answers.graphs)
    found += std::ranges::count(hypothesis.tokens, pad_token_id);
  return limited(name, static_cast<double>(found), 0, "padding tokens in translations");
}

}  // namespace

std::vector<Check> check_token_parity(const TokenParityInput& input) {
  std::vector<Check> checks;
  const std::int64_t beams = input.defaults.num_beams > 1 ? input.defaults.num_beams : kUsualBeams;
  try {
    const LineTranslator translator(input);
    for (const auto& [name, width] :
         {std::pair<std::string, std::int64_t>{"greedy", 1}, {"beam", beams}}) {
      const Answers answers = translator.translate(width, name);
      checks.push_back(compare_tokens(name + ".tokens", answers, input.limits.different_lines));
      checks.push_back(
          compare_repeats(name + ".repeats", input.lines, answers, input.limits.more_repeats));
      checks.push_back(count_padding(name + ".padding", answers, input.package.pad_token_id));
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    checks.push_back(failed("tokens.run", error.what()));
  }
  return checks;
}

}  // namespace sampan::verify
