#include "tune/loss_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "evaluate/metrics.h"
#include "evaluate/mteval_tokenizer.h"
#include "tune/text_lines.h"
#include "tune/trial.h"

namespace sampan::tune {
namespace {

using quantize::BlockScheme;
using quantize::SchemeChoice;

/// Lines that a layer's cost is measured on: enough, because every token of them counts.
constexpr std::size_t kScoredLines = 200;

/// A layer, what rounding it to the smallest scheme costs, and saves.
struct Layer {
  std::string name;
  double cost = 0.0;        ///< nats a token
  std::uint64_t saved = 0;  ///< bytes

  double cost_per_byte() const {
    return cost / static_cast<double>(std::max<std::uint64_t>(saved, 1));
  }
};

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

class Search {
 public:
  Search(const QuantizeOptions& options, const SourcePackage& source, const BlockPlan& plan,
         std::shared_ptr<quantize::WeightStore> store, const Progress& progress)
      : options_(options),
        source_(source),
        plan_(plan),
        store_(std::move(store)),
        progress_(progress),
        text_(read_parallel_text(options.source, options.reference)),
        searched_(half_of(text_, 0)),
        tokenizer_(evaluate::tokenizer_for(text_.references)),
        original_(source.folder) {}

  BlockPlan run() {
    const std::vector<std::string> translations =
        original_.translate_text(searched_.sources, progress_.stop);
    original_bleu_ = bleu(translations, searched_);
    progress_.say(fmt::format("search: fp32 has BLEU {:.2f} on {} lines ({})", original_bleu_,
                              searched_.sources.size(), evaluate::bleu_signature(tokenizer_)));
    std::optional<std::size_t> found;
    if (step_is_within(0)) {
      found = 0;
    } else {
      rank_layers(translations);
      found = bisect();
    }
    if (!found)
      base::fail(ErrorCode::kUnsupported,
                 "no package of this scheme is within {} BLEU; allow a larger loss, or choose a "
                 "smaller --block-size",
                 *options_.max_bleu_loss);
    const BlockPlan result = plan_at(*found);
    report_other_half(result);
    return result;
  }

 private:
  /// Steps of the path: 0 is the smallest package; each further one stores one more layer in the
  /// next larger way, all layers in 8 bits before the first in fp32. The last would be fp32 whole.
  std::size_t levels() const { return options_.scheme == QuantizationScheme::kInt4 ? 2 : 1; }
  std::size_t last_step() const { return levels() * layers_.size() - 1; }

  /// How far the layer of rank `rank` has gone at a step: 0 for the smallest way.
  std::size_t level_at(std::size_t step, std::size_t rank) const {
    return step / layers_.size() + (rank < step % layers_.size() ? 1 : 0);
  }

  BlockPlan plan_at(std::size_t step) const {
    if (step == 0) return plan_;
    std::map<std::string, std::size_t> level;
    for (std::size_t rank = 0; rank < layers_.size(); ++rank)
      level[layers_[rank].name] = level_at(step, rank);
    BlockPlan result = plan_;
    result.choose = [smallest = plan_.choose, level = std::move(level),
                     most = levels()](const std::string& name) -> std::optional<BlockScheme> {
      std::optional<BlockScheme> scheme = smallest(name);
      const auto found = level.find(layer_of(name));
      if (!scheme || found == level.end() || found->second == 0) return scheme;
      if (found->second >= most) return std::nullopt;
      scheme->bits = 8;
      return scheme;
    };
    if (result.record.name.find("-mixed") == std::string::npos) result.record.name += "-mixed";
    if (step >= layers_.size() && levels() == 2) {  // nothing in 4 bits any more
      result.record.precision = "int8";
      result.record.name.replace(0, std::string_view("int4").size(), "int8");
    }
    return result;
  }

  Trial try_plan(const BlockPlan& plan) const {
    quantize::WeightOnlyScheme scheme(plan.record, store_, plan.choose);
    return Trial(source_, scheme, progress_);
  }

  double bleu(const std::vector<std::string>& translations, const ParallelText& text) const {
    return evaluate::bleu(translations, text.references, tokenizer_).score;
  }

  bool step_is_within(std::size_t step) {
    progress_.check_stop();
    const Trial trial = try_plan(plan_at(step));
    const double loss =
        original_bleu_ - bleu(trial.translate_text(searched_.sources, progress_.stop), searched_);
    const bool within = loss <= *options_.max_bleu_loss;
    progress_.say(fmt::format(
        "search: step {}, {:.2f} MB of graphs and weights: loss {:.2f} BLEU, {}", step,
        megabytes(trial.summary().graph_bytes_after), loss, within ? "within" : "too much"));
    return within;
  }

  /// Finds the layers, and orders them by what they cost for the bytes they save.
  void rank_layers(std::vector<std::string> translations) {
    std::set<std::string> names;
    for (const auto& [key, entry] : store_->entries()) names.insert(layer_of(entry.source.name));
    std::vector<std::string> sources = searched_.sources;
    if (sources.size() > kScoredLines) sources.resize(kScoredLines);
    translations.resize(sources.size());
    const double original = original_.nats_per_token(sources, translations, progress_.stop);
    for (const std::string& name : names) {
      progress_.check_stop();
      BlockPlan alone = plan_;
      alone.choose = [&](const std::string& weight) -> std::optional<BlockScheme> {
        return layer_of(weight) == name ? plan_.choose(weight) : std::nullopt;
      };
      const Trial trial = try_plan(alone);
      const QuantizeSummary& size = trial.summary();
      layers_.push_back({name,
                         trial.nats_per_token(sources, translations, progress_.stop) - original,
                         size.graph_bytes_before - size.graph_bytes_after});
      progress_.say(fmt::format("search: rounding {} costs {:.4f} nats a token and saves {:.2f} MB",
                                name, layers_.back().cost, megabytes(layers_.back().saved)));
    }
    std::ranges::stable_sort(layers_, std::ranges::greater(), &Layer::cost_per_byte);
  }

  /// The first step within the loss, as if the loss only fell along the path; step 0 is not.
  std::optional<std::size_t> bisect() {
    std::size_t too_small = 0;
    std::optional<std::size_t> found;
    std::size_t end = last_step() + 1;
    while (end - too_small > 1) {
      const std::size_t step = too_small + (end - too_small) / 2;
      if (step_is_within(step)) {
        found = end = step;
      } else {
        too_small = step;
      }
    }
    return found;
  }

  void report_other_half(const BlockPlan& plan) const {
    const ParallelText other = half_of(text_, 1);
    const double before = bleu(original_.translate_text(other.sources, progress_.stop), other);
    const double after = bleu(try_plan(plan).translate_text(other.sources, progress_.stop), other);
    progress_.say(fmt::format(
        "search: on the other {} lines fp32 has BLEU {:.2f}, the package {:.2f}: loss {:.2f}",
        other.sources.size(), before, after, before - after));
  }

  const QuantizeOptions& options_;
  const SourcePackage& source_;
  const BlockPlan& plan_;
  std::shared_ptr<quantize::WeightStore> store_;
  const Progress& progress_;
  ParallelText text_;
  ParallelText searched_;
  evaluate::BleuTokenizer tokenizer_;
  Trial original_;
  double original_bleu_ = 0.0;
  std::vector<Layer> layers_;
};

}  // namespace

std::string layer_of(const std::string& weight) {
  constexpr std::string_view kLayers = ".layers.";
  const std::size_t at = weight.find(kLayers);
  if (at == std::string::npos) return weight;
  return weight.substr(0, weight.find('.', at + kLayers.size()));
}

BlockPlan search_within_loss(const QuantizeOptions& options, const SourcePackage& source,
                             const BlockPlan& plan,
                             const std::shared_ptr<quantize::WeightStore>& store,
                             const Progress& progress) {
  return Search(options, source, plan, store, progress).run();
}

}  // namespace sampan::tune
