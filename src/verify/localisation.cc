#include "verify/localisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/onnx_reader.h"
#include "session/contract.h"
#include "verify/decoder_form.h"
#include "verify/trace.h"
#include "verify/traced_graph.h"

namespace sampan::verify {
namespace {

using package::GraphRole;
using reference::Matrix;
using session::NamedTensor;

enum class Part { kEncoder, kFirst, kLater };

/// A graph or a branch of one.
struct Target {
  std::string name;  ///< in the report
  GraphRole role = GraphRole::kEncoder;
  Part part = Part::kEncoder;
};

std::vector<Target> targets_of(const package::Package& package, bool all) {
  std::vector<Target> targets = {{"encoder", GraphRole::kEncoder, Part::kEncoder}};
  const bool separate = package.graphs.contains(GraphRole::kDecoder) &&
                        package.graphs.contains(GraphRole::kDecoderWithPast);
  if (separate) {
    targets.push_back({"decoder", GraphRole::kDecoder, Part::kFirst});
    targets.push_back({"decoder_with_past", GraphRole::kDecoderWithPast, Part::kLater});
  }
  if (package.graphs.contains(GraphRole::kDecoderMerged) && (all || !separate)) {
    targets.push_back({"merged.no_past", GraphRole::kDecoderMerged, Part::kFirst});
    targets.push_back({"merged.with_past", GraphRole::kDecoderMerged, Part::kLater});
  }
  return targets;
}

/// Matrices [positions, heads * head_dim] of each row as one tensor [row, head, length, head_dim],
/// padded with zeros.
NamedTensor heads_tensor(std::string name, const std::vector<const Matrix*>& rows,
                         std::int64_t heads, std::int64_t length) {
  const std::int64_t head_dim = rows.front()->cols() / heads;
  std::vector<float> data(rows.size() * static_cast<std::size_t>(heads * length * head_dim));
  auto place = data.begin();
  for (const Matrix* row : rows)
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t position = 0; position < length; ++position)
        for (std::int64_t column = 0; column < head_dim; ++column, ++place)
          if (position < row->rows())
            *place = static_cast<float>((*row)(position, head * head_dim + column));
  return {std::move(name),
          {static_cast<std::int64_t>(rows.size()), heads, length, head_dim},
          std::move(data)};
}

class Localiser {
 public:
  explicit Localiser(const LocalisationInput& input) : input_(input) {}

  Localisation run() && {
    for (const Target& target : targets_of(input_.package, input_.search)) {
      if (!input_.only.empty() && std::ranges::count(input_.only, target.name) == 0) continue;
      if (input_.progress) input_.progress(fmt::format("looking into {}", target.name));
      try {
        look_into(target);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        result_.not_checked.push_back(not_checked(target.name + ".inner_values", error.what()));
      }
    }
    return std::move(result_);
  }

 private:
  void look_into(const Target& target) {
    const std::filesystem::path& file = input_.package.graphs.at(target.role);
    graph::Model model = graph::read_model_file(file);
    if (target.role == GraphRole::kDecoderMerged)
      model = branch_of(model, target.part == Part::kLater);
    const std::string stack = target.part == Part::kEncoder ? "encoder" : "decoder";
    const TracedGraph graph(std::move(model), file.parent_path(), stack, input_.session);
    const std::size_t cases = input_.search ? input_.cases.size() : 1;
    for (std::size_t i = 0; i < cases; ++i) {
      Trace trace(target.name, graph.probes(), input_.limits.inner_values);
      if (target.part == Part::kEncoder)
        run_encoder(graph, i, trace);
      else if (target.part == Part::kFirst)
        run_first(graph, i, trace);
      else
        run_later(graph, i, trace);
      if (i == 0) append(trace.inner_values(), result_.inner_values);
      std::vector<Place> places = trace.places();
      append(places, result_.places);
      if (!places.empty()) break;
    }
  }

  template <typename Item>
  static void append(const std::vector<Item>& more, std::vector<Item>& all) {
    all.insert(all.end(), more.begin(), more.end());
  }

  void stop_if_asked() const {
    if (input_.stop.stop_requested())
      base::fail(ErrorCode::kCancelled, "stopped before the verification was done");
  }

  Trace::Run run_of(const Trace::Values& values, std::size_t case_index, std::size_t row,
                    bool encoder) const {
    const ParityCase& parity_case = input_.cases[case_index];
    return {values, parity_case.name, static_cast<std::int64_t>(row),
            static_cast<std::int64_t>(parity_case.sources.size()), input_.reference.heads(encoder)};
  }

  void run_encoder(const TracedGraph& graph, std::size_t index, Trace& trace) const {
    stop_if_asked();
    const ParityCase& parity_case = input_.cases[index];
    const PaddedSources sources(parity_case.sources, input_.package.pad_token_id);
    const auto values = graph.run(std::vector{sources.ids, sources.mask});
    for (std::size_t row = 0; row < parity_case.sources.size(); ++row) {
      const Trace::Run run = run_of(values, index, row, true);
      input_.reference.encode(parity_case.sources[row], trace.observer(run));
    }
  }

  std::vector<NamedTensor> decoder_inputs(std::size_t index, std::size_t step) const {
    const ParityCase& parity_case = input_.cases[index];
    PaddedSources sources(parity_case.sources, input_.package.pad_token_id);
    sources.mask.name = session::kEncoderAttentionMask;
    const std::int64_t width = sources.mask.shape[1];
    std::vector<const Matrix*> rows;
    for (const auto& row : input_.answers[index].rows) rows.push_back(&row.states);
    NamedTensor states = heads_tensor(session::kEncoderHiddenStates, rows, 1, width);
    states.shape.erase(states.shape.begin() + 1);
    return {ids_tensor(parity_case.steps[step]), std::move(sources.mask), std::move(states)};
  }

  void run_first(const TracedGraph& graph, std::size_t index, Trace& trace) const {
    stop_if_asked();
    const auto values = graph.run(decoder_inputs(index, 0));
    const auto& rows = input_.answers[index].rows;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Trace::Run run = run_of(values, index, row, false);
      const reference::Observer observer = trace.observer(run);
      auto target = input_.reference.start(rows[row].states, observer);
      input_.reference.decode(rows_of(target, input_.cases[index].steps[0][row]), observer);
    }
  }

  void run_later(const TracedGraph& graph, std::size_t index, Trace& trace) const {
    const auto& steps = input_.cases[index].steps;
    const auto& rows = input_.answers[index].rows;
    // A first step of one token may also follow a past of none.
    for (std::size_t step = steps[0][0].size() == 1 ? 0 : 1; step < steps.size(); ++step) {
      stop_if_asked();
      std::vector<NamedTensor> inputs = decoder_inputs(index, step);
      append(past_of(index, step, inputs[1].shape[1]), inputs);
      const auto values = graph.run(inputs);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const Trace::Run run = run_of(values, index, row, false);
        auto target = rows[row].targets[step];
        input_.reference.decode(rows_of(target, steps[step][row]), trace.observer(run));
      }
    }
  }

  std::vector<NamedTensor> past_of(std::size_t index, std::size_t step, std::int64_t width) const {
    using Cache = reference::Marian::LayerCache;
    const auto& rows = input_.answers[index].rows;
    const std::int64_t heads = input_.reference.heads(false);
    std::vector<NamedTensor> past;
    for (std::size_t layer = 0; layer < rows.front().targets.front().layers.size(); ++layer) {
      const auto add = [&](const char* part, Matrix Cache::*member, bool cross) {
        std::vector<const Matrix*> caches;
        for (const auto& row : rows) caches.push_back(&(row.targets[step].layers[layer].*member));
        const std::int64_t length = cross ? width : rows.front().targets[step].length;
        past.push_back(length == 0 ? NamedTensor{fmt::format("past_key_values.{}.{}", layer, part),
                                                 {static_cast<std::int64_t>(rows.size()), heads, 0,
                                                  rows.front().states.cols() / heads},
                                                 std::vector<float>()}
                                   : heads_tensor(fmt::format("past_key_values.{}.{}", layer, part),
                                                  caches, heads, length));
      };
      add("decoder.key", &Cache::self_key, false);
      add("decoder.value", &Cache::self_value, false);
      add("encoder.key", &Cache::cross_key, true);
      add("encoder.value", &Cache::cross_value, true);
    }
    return past;
  }

  const LocalisationInput& input_;
  Localisation result_;
};

}  // namespace

Localisation localise(const LocalisationInput& input) { return Localiser(input).run(); }

Check check_inner_values(const Localisation& found, double limit) {
  const std::string name = "inner_values";
  if (found.inner_values.empty() && found.places.empty())
    return not_checked(name, "no inner value of the graphs has a name that is known");
  double figure = 0.0;
  for (const Place& place : found.places) figure = std::max(figure, place.figure);
  for (const InnerValue& value : found.inner_values) figure = std::max(figure, value.difference);
  std::vector<InnerValue> ranked = found.inner_values;
  std::ranges::stable_sort(ranked, std::greater{}, &InnerValue::relative_error);
  std::string detail = "lose most:";
  for (std::size_t i = 0; i < std::min<std::size_t>(5, ranked.size()); ++i)
    detail += fmt::format("{} {}: {} ({:.2g})", i == 0 ? "" : ",", ranked[i].graph, ranked[i].name,
                          ranked[i].relative_error);
  return limited(name, figure, limit, std::move(detail));
}

}  // namespace sampan::verify
