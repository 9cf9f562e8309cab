#include "tune/machine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <utility>

#include "base/fail.h"
#include "evaluate/package_size.h"
#include "evaluate/statistics.h"
#include "package/manifest.h"
#include "package/staged_folder.h"
#include "tune/package_rewrite.h"
#include "tune/trial.h"

namespace sampan {
namespace tune {

std::size_t best_trial(std::span<const MachineTrial> trials, double most_loss) {
  constexpr double kNearlyAsFast = 0.95;
  const auto allowed = [most_loss](const MachineTrial& trial) { return trial.loss <= most_loss; };
  double fastest = 0.0;
  for (const MachineTrial& trial : trials)
    if (allowed(trial)) fastest = std::max(fastest, trial.tokens_per_second);
  std::size_t best = trials.size();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!allowed(trials[i]) || trials[i].tokens_per_second < kNearlyAsFast * fastest) continue;
    if (best == trials.size() || trials[i].graph_bytes < trials[best].graph_bytes) best = i;
  }
  if (best == trials.size())
    base::fail(ErrorCode::kUnsupported,
               "none of the packages loses at most {} nats a token; allow a larger loss",
               most_loss);
  return best;
}

namespace {

constexpr std::size_t kRounds = 3;

/// Makes the package of a trial; of `options`, how a package is written counts.
void write_trial(const MachineTrial& trial, const std::filesystem::path& package,
                 const std::filesystem::path& output, const MachineChoiceOptions& options) {
  OptimizeOptions form;
  form.weights = trial.weights;
  form.optimized_for = trial.optimized_for;
  form.force = options.force;
  form.report = options.report;
  form.stop = options.stop;
  optimize_package(package, output, form);
}

/// A package that was made, and what is measured of it.
struct Candidate {
  Trial trial;
  std::vector<double> seconds;
};

class Measurement {
 public:
  Measurement(const std::filesystem::path& package, const MachineChoiceOptions& options)
      : package_(package),
        options_(options),
        progress_{options.report, options.stop},
        batch_size_(options.optimized_for == OptimizedFor::kLatency ? 1 : 32) {}

  /// Packages are made in `folder`, which must last as long as this object.
  std::vector<MachineTrial> run(const std::filesystem::path& folder) {
    make({"int4", OptimizedWeights::kInt4}, folder);
    make({"int8 for latency", OptimizedWeights::kInt8}, folder);
    make({"int8 for throughput", OptimizedWeights::kInt8, OptimizedFor::kThroughput}, folder);
    make({"fp32", OptimizedWeights::kFloat32}, folder);
    measure_loss();
    measure_speed();
    return std::move(trials_);
  }

 private:
  /// A form that this model's sizes or this runtime do not allow is left out.
  void make(MachineTrial trial, const std::filesystem::path& folder) {
    progress_.say(fmt::format("trying {}", trial.name));
    const std::filesystem::path output = folder / std::to_string(trials_.size());
    MachineChoiceOptions quiet;
    quiet.stop = options_.stop;
    try {
      write_trial(trial, package_, output, quiet);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported || trial.weights == OptimizedWeights::kFloat32)
        throw;
      progress_.say(fmt::format("left out {}: {}", trial.name, error.what()));
      return;
    }
    trial.graph_bytes = evaluate::package_size(output).model_bytes;
    trials_.push_back(std::move(trial));
    candidates_.push_back({Trial(output), {}});
  }

  /// Also warms every package up. The last one, fp32, is what the others are held against.
  void measure_loss() {
    const auto original =
        candidates_.back().trial.translate_timed(options_.texts, batch_size_, options_.stop);
    std::vector<std::string> texts;
    for (const Translation& translation : original.translations) texts.push_back(translation.text);
    const double of_fp32 =
        candidates_.back().trial.nats_per_token(options_.texts, texts, options_.stop);
    trials_.back().same_lines = 1.0;
    auto trial = trials_.begin();
    for (const Candidate& candidate : candidates_) {
      if (&candidate == &candidates_.back()) break;
      const evaluate::Pass pass =
          candidate.trial.translate_timed(options_.texts, batch_size_, options_.stop);
      std::size_t same = 0;
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (pass.translations[i].tokens == original.translations[i].tokens) ++same;
      trial->same_lines = static_cast<double>(same) / static_cast<double>(texts.size());
      trial->loss = candidate.trial.nats_per_token(options_.texts, texts, options_.stop) - of_fp32;
      ++trial;
    }
  }

  /// In turns, so that a slower moment of the machine meets all of them.
  void measure_speed() {
    std::vector<std::size_t> tokens(trials_.size());
    for (std::size_t round = 0; round < kRounds; ++round) {
      std::size_t index = 0;
      for (Candidate& candidate : candidates_) {
        const evaluate::Pass pass =
            candidate.trial.translate_timed(options_.texts, batch_size_, options_.stop);
        candidate.seconds.push_back(pass.seconds);
        tokens[index++] = pass.tokens();
      }
    }
    std::size_t index = 0;
    for (const Candidate& candidate : candidates_) {
      const double seconds = evaluate::spread_of(candidate.seconds).median;
      trials_[index].tokens_per_second = static_cast<double>(tokens[index]) / seconds;
      ++index;
    }
  }

  const std::filesystem::path& package_;
  const MachineChoiceOptions& options_;
  Progress progress_;
  std::size_t batch_size_;
  std::vector<MachineTrial> trials_;
  std::list<Candidate> candidates_;  // in the order of the trials
};

}  // namespace
}  // namespace tune

MachineChoice optimize_for_this_machine(const std::filesystem::path& package,
                                        const std::filesystem::path& output,
                                        const MachineChoiceOptions& options) {
  if (options.texts.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "there is no text to measure on; give a few dozen sentences");
  if (!std::isfinite(options.most_loss))
    base::fail(ErrorCode::kInvalidArgument, "most_loss is not a number of nats a token");
  MachineChoice choice;
  {
    // Beside the output, where there is room for it; never put in its place.
    const package::StagedFolder folder(
        output, options.force ? std::string(package::kManifestName) : std::string());
    choice.trials = tune::Measurement(package, options).run(folder.content());
  }
  choice.chosen = tune::best_trial(choice.trials, options.most_loss);
  tune::write_trial(choice.trials[choice.chosen], package, output, options);
  return choice;
}

}  // namespace sampan
