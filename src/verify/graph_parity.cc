#include "verify/graph_parity.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "verify/decoder_form.h"
#include "verify/difference.h"

namespace sampan::verify {
namespace {

using package::GraphRole;
using reference::Matrix;
using session::NamedTensor;

/// What a decoder form's checks are made of.
struct FormWorst {
  Worst first_logits, first_caches, later_logits, later_caches, no_past;
};

/// Keys and values of each layer in turn, as the graphs have them.
std::vector<const Matrix*> self_caches(const reference::Marian::Target& target) {
  std::vector<const Matrix*> caches;
  for (const auto& layer : target.layers)
    for (const Matrix* cache : {&layer.self_key, &layer.self_value}) caches.push_back(cache);
  return caches;
}
std::vector<const Matrix*> cross_caches(const reference::Marian::Target& target) {
  std::vector<const Matrix*> caches;
  for (const auto& layer : target.layers)
    for (const Matrix* cache : {&layer.cross_key, &layer.cross_value}) caches.push_back(cache);
  return caches;
}

void compare_caches(const std::vector<NamedTensor>& outputs,
                    const std::vector<const Matrix*>& expected, const RowPlace& place,
                    Worst& worst) {
  if (outputs.size() != expected.size())
    base::fail(ErrorCode::kInvalidData,
               "the graph has {} cached keys and values, the model {}; export the package again",
               outputs.size(), expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    compare_cache(outputs[i], *expected[i], place, worst);
}

class Comparison {
 public:
  explicit Comparison(const GraphParityInput& input) : input_(input) {}

  std::vector<Check> run() && {
    load("encoder", [this] {
      encoder_ = std::make_unique<const session::GraphRunner>(
          input_.package.graphs.at(GraphRole::kEncoder), input_.session);
      session::check_encoder(encoder_->signature());
    });
    if (!encoder_) return std::move(checks_);
    const auto has = [this](GraphRole role) { return input_.package.graphs.contains(role); };
    if (has(GraphRole::kDecoder) && has(GraphRole::kDecoderWithPast)) add_form("separate", false);
    if (has(GraphRole::kDecoderMerged)) add_form("merged", true);
    for (std::size_t i = 0; i < input_.cases.size(); ++i)
      if (!compare(input_.cases[i], input_.answers[i])) break;
    report();
    return std::move(checks_);
  }

 private:
  struct Form {
    std::string name;
    std::unique_ptr<const DecoderForm> graphs;
    FormWorst worst;
  };

  // What a graph does wrong is a finding, not the end of the verification.
  template <typename Action>
  bool load(const std::string& name, Action action) {
    try {
      action();
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      checks_.push_back(failed(name + ".runs", error.what()));
      return false;
    }
  }

  void add_form(const std::string& name, bool merged) {
    if (input_.progress) input_.progress(fmt::format("loading the {} decoder", name));
    load(name, [&] {
      forms_.push_back(
          {name, std::make_unique<const DecoderForm>(input_.package, merged, input_.session), {}});
    });
  }

  // False once the encoder does not run: nothing else can then.
  bool compare(const ParityCase& parity_case, const ReferenceAnswers& answers) {
    if (input_.stop.stop_requested())
      base::fail(ErrorCode::kCancelled, "stopped before the verification was done");
    if (input_.progress) input_.progress(fmt::format("comparing {}", parity_case.name));
    const PaddedSources sources(parity_case.sources, input_.package.pad_token_id);
    const std::int64_t width = sources.ids.shape[1];
    NamedTensor states;
    const bool encoded = load("encoder", [&] {
      const std::string name = session::kLastHiddenState;
      states = std::move(
          encoder_->run(std::vector{sources.ids, sources.mask}, std::span(&name, 1)).front());
      for (std::size_t row = 0; row < answers.rows.size(); ++row)
        compare_states(states, answers.rows[row].states, {row, width, parity_case.name}, states_);
    });
    // What has another shape cannot be fed to a decoder.
    if (!encoded || std::isinf(states_.difference)) return false;
    std::erase_if(forms_, [&](Form& form) {
      return !load(form.name, [&] {
        compare_form(form, parity_case, answers, {sources.mask, states});
      });
    });
    return true;
  }

  struct Source {
    const NamedTensor& mask;
    const NamedTensor& states;
  };

  void compare_form(Form& form, const ParityCase& parity_case, const ReferenceAnswers& answers,
                    const Source& source) {
    FormWorst& worst = form.worst;
    const std::int64_t width = source.mask.shape[1];
    DecoderPast past;
    std::int64_t length = 0;
    for (std::size_t step = 0; step < parity_case.steps.size(); ++step) {
      const auto& tokens = parity_case.steps[step];
      const bool first = step == 0;
      const auto count = static_cast<std::int64_t>(tokens.front().size());
      length += count;
      DecoderOutputs outputs = first ? form.graphs->first(tokens, source.mask, source.states)
                                     : form.graphs->next(tokens, source.mask, source.states, past);
      if (first && count == 1) {
        const auto rows = static_cast<std::int64_t>(tokens.size());
        const DecoderOutputs again = form.graphs->next(tokens, source.mask, source.states,
                                                       form.graphs->no_past(outputs, rows));
        for (std::size_t row = 0; row < answers.rows.size(); ++row)
          compare_logits(again.logits, answers.rows[row].logits[step],
                         {row, count, parity_case.name}, worst.no_past);
      }
      for (std::size_t row = 0; row < answers.rows.size(); ++row) {
        const ReferenceAnswers::Row& expected = answers.rows[row];
        compare_logits(outputs.logits, expected.logits[step], {row, count, parity_case.name},
                       first ? worst.first_logits : worst.later_logits);
        Worst& caches = first ? worst.first_caches : worst.later_caches;
        compare_caches(outputs.self, self_caches(expected.targets[step + 1]),
                       {row, length, parity_case.name}, caches);
        if (first)
          compare_caches(outputs.cross, cross_caches(expected.targets[0]),
                         {row, width, parity_case.name}, caches);
      }
      past.self = std::move(outputs.self);
      if (first) past.cross = std::move(outputs.cross);
    }
  }

  void report() {
    if (states_.values > 0) add("encoder.states", states_, input_.limits.states);
    for (const Form& form : forms_) {
      add(form.name + ".first_logits", form.worst.first_logits, input_.limits.logits);
      add(form.name + ".first_caches", form.worst.first_caches, input_.limits.states);
      add(form.name + ".no_past_logits", form.worst.no_past, input_.limits.logits);
      add(form.name + ".later_logits", form.worst.later_logits, input_.limits.logits);
      add(form.name + ".later_caches", form.worst.later_caches, input_.limits.states);
    }
    checks_.push_back(
        limited("finite", static_cast<double>(not_finite_), 0, "values that are NaN or infinite"));
  }

  void add(const std::string& name, const Worst& worst, double limit) {
    checks_.push_back(limited(name, worst.difference, limit, worst.where));
    not_finite_ += worst.not_finite;
  }

  const GraphParityInput& input_;
  std::unique_ptr<const session::GraphRunner> encoder_;
  std::vector<Form> forms_;
  Worst states_;
  std::int64_t not_finite_ = 0;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> check_graph_parity(const GraphParityInput& input) {
  return Comparison(input).run();
}

}  // namespace sampan::verify
