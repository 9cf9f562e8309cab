#include "tune/compensation.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "decode/scoring.h"
#include "package/package.h"
#include "quantize/compensated_rounding.h"
#include "quantize/input_moments.h"
#include "session/sequence_model.h"
#include "tune/calibration_run.h"
#include "tune/trial.h"

namespace sampan::tune {
namespace {

/// Every fifth sentence is held back.
constexpr std::size_t kHoldEvery = 5;
constexpr std::size_t kLeastSentences = 10;
/// Sentences that are scored at once.
constexpr std::size_t kBatch = 16;

bool is_held(std::size_t sentence) { return sentence % kHoldEvery == kHoldEvery - 1; }

/// By a weight's name; weights with the same inputs share them.
using MomentsOfWeights =
    std::map<std::string, std::shared_ptr<quantize::InputMoments>, std::less<>>;

/// Adds what goes into those weights that will be rounded.
void add_input(const ObservedInput& input, const quantize::SchemeChoice& choose,
               MomentsOfWeights& moments) {
  std::shared_ptr<quantize::InputMoments> shared;
  for (const std::string& weight : input.weights) {
    if (!choose(weight)) continue;
    std::shared_ptr<quantize::InputMoments>& own = moments[weight];
    if (own == nullptr)
      own = shared ? shared : std::make_shared<quantize::InputMoments>(input.inputs);
    if (own != shared) own->add(input.values);
    shared = own;
  }
}

/// Pairs to measure a package on.
struct HeldText {
  std::vector<decode::SearchInput> inputs;
  std::vector<std::vector<std::int64_t>> targets;
  GenerationConfig generation;
  std::size_t tokens = 0;
};

HeldText held_part(CalibrationRun run) {
  HeldText held;
  for (std::size_t i = 0; i < run.sources.size(); ++i) {
    std::vector<std::int64_t>& target = run.targets[i];
    decode::SearchInput input{std::move(run.sources[i]), {}, std::nullopt};
    if (run.generation.forced_bos_token_id && !target.empty()) {
      input.prefix = {target.front()};
      target.erase(target.begin());
    }
    if (!is_held(i) || target.empty()) continue;
    held.tokens += target.size();
    held.inputs.push_back(std::move(input));
    held.targets.push_back(std::move(target));
  }
  held.generation = std::move(run.generation);
  return held;
}

/// Mean of -log p that a package gives the tokens of the held targets, in nats.
double nats_per_token(const std::filesystem::path& folder, const HeldText& held,
                      const Progress& progress) {
  const package::Package package = package::open_package(folder, session::runtime_version());
  const auto model = session::SequenceModel::load(package, {})->new_step_model();
  decode::SearchControl control;
  control.stop = progress.stop;
  double sum = 0.0;
  for (std::size_t first = 0; first < held.inputs.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, held.inputs.size() - first);
    for (const std::vector<float>& target : decode::score_targets(
             *model, std::span(held.inputs).subspan(first, count),
             std::span(held.targets).subspan(first, count), held.generation, control))
      for (const float log_prob : target) sum -= static_cast<double>(log_prob);
  }
  return sum / static_cast<double>(std::max<std::size_t>(held.tokens, 1));
}

/// Rounds with the moments of a weight's inputs, plainly where there are none.
quantize::Rounder compensating(std::shared_ptr<const MomentsOfWeights> moments,
                               const Progress& progress) {
  return [moments = std::move(moments), progress](
             const std::string& name, std::span<const float> weights, std::int64_t columns,
             const quantize::BlockScheme& scheme) {
    progress.check_stop();
    const auto found = moments->find(name);
    if (found == moments->end() || found->second->inputs() != columns)
      return quantize::quantize_rows(weights, columns, scheme);
    return quantize::quantize_rows_compensated(weights, columns, scheme, found->second->sums());
  };
}

}  // namespace

std::shared_ptr<quantize::WeightStore> compensated_store(const QuantizeOptions& options,
                                                         const SourcePackage& source,
                                                         BlockPlan& plan,
                                                         const Progress& progress) {
  const auto moments = std::make_shared<MomentsOfWeights>();
  CalibrationRun run = decode_observed(source, options, progress,
                                       [&](std::size_t sentence, const ObservedInput& input) {
                                         if (!is_held(sentence))
                                           add_input(input, plan.choose, *moments);
                                       });
  if (run.sources.size() < kLeastSentences)
    base::fail(ErrorCode::kInvalidArgument, "{}: has {} sentences; gptq needs {} or more",
               options.calibration.string(), run.sources.size(), kLeastSentences);
  const HeldText held = held_part(std::move(run));
  const double original = nats_per_token(source.folder, held, progress);
  const auto loss_with = [&](const std::shared_ptr<quantize::WeightStore>& store) {
    quantize::WeightOnlyScheme scheme(plan.record, store, plan.choose);
    const Trial trial(source, scheme, progress);
    return nats_per_token(trial.folder(), held, progress) - original;
  };
  const auto plain = std::make_shared<quantize::WeightStore>();
  const double plain_loss = loss_with(plain);
  const auto compensated = std::make_shared<quantize::WeightStore>(compensating(moments, progress));
  const double compensated_loss = loss_with(compensated);
  const bool is_better = compensated_loss < plain_loss;
  plan.record.note =
      fmt::format("gptq: loss on {} held tokens {:.4f} nats a token, plainly rounded {:.4f}: {}",
                  held.tokens, compensated_loss, plain_loss, is_better ? "kept" : "not kept");
  progress.say(plan.record.note);
  if (!is_better) return plain;
  plan.record.name += "-gptq";
  return compensated;
}

}  // namespace sampan::tune
