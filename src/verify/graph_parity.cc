#include "verify/graph_parity.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/fail.h"
#include "verify/decoder_form.h"
#include "verify/difference.h"

namespace sampan::verify {
namespace {

using package::GraphRole;
using reference::Matrix;
using session::NamedTensor;

/// The reference's answers to one case, row by row.
struct Expected {
  struct Caches {
    std::vector<Matrix> self;  // key and value of each layer, in turn
    Matrix logits;             // of the tokens fed at this step
  };
  struct Row {
    Matrix states;
    std::vector<Matrix> cross;
    std::vector<Caches> steps;  // the prompt's, then each later step's
  };
  std::vector<Row> rows;
};

Expected::Caches decode(const reference::Marian& model, reference::Marian::Target& target,
                        std::span<const std::int64_t> tokens) {
  std::vector<reference::Marian::Row> rows;
  for (const std::int64_t token : tokens) rows.push_back({&target, token});
  Expected::Caches result;
  result.logits = model.decode(rows);
  for (const auto& layer : target.layers) {
    result.self.push_back(layer.self_key);
    result.self.push_back(layer.self_value);
  }
  return result;
}

Expected expect(const reference::Marian& model, const ParityCase& parity_case) {
  Expected expected;
  for (std::size_t i = 0; i < parity_case.sources.size(); ++i) {
    Expected::Row row;
    row.states = model.encode(parity_case.sources[i]);
    auto target = model.start(row.states);
    for (const auto& layer : target.layers) {
      row.cross.push_back(layer.cross_key);
      row.cross.push_back(layer.cross_value);
    }
    row.steps.push_back(decode(model, target, parity_case.prompts[i]));
    for (const auto& tokens : parity_case.steps)
      row.steps.push_back(decode(model, target, std::span(tokens).subspan(i, 1)));
    expected.rows.push_back(std::move(row));
  }
  return expected;
}

/// What a decoder form's checks are made of.
struct FormWorst {
  Worst first_logits, first_caches, later_logits, later_caches, no_past;
};

void compare_caches(const std::vector<NamedTensor>& outputs, const std::vector<Matrix>& expected,
                    const RowPlace& place, Worst& worst) {
  if (outputs.size() != expected.size())
    base::fail(ErrorCode::kInvalidData,
               "the graph has {} cached keys and values, the model {}; export the package again",
               outputs.size(), expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    compare_cache(outputs[i], expected[i], place, worst);
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
    for (const ParityCase& parity_case : input_.cases)
      if (!compare(parity_case)) break;
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
  bool compare(const ParityCase& parity_case) {
    if (input_.stop.stop_requested())
      base::fail(ErrorCode::kCancelled, "stopped before the verification was done");
    if (input_.progress) input_.progress(fmt::format("comparing {}", parity_case.name));
    const Expected expected = expect(input_.reference, parity_case);
    const PaddedSources sources(parity_case.sources, input_.package.pad_token_id);
    NamedTensor states;
    const bool encoded = load("encoder", [&] {
      const std::string name = session::kLastHiddenState;
      states = std::move(
          encoder_->run(std::vector{sources.ids, sources.mask}, std::span(&name, 1)).front());
      for (std::size_t row = 0; row < expected.rows.size(); ++row)
        compare_states(states, expected.rows[row].states, {row, parity_case.name}, states_);
    });
    if (!encoded) return false;
    for (std::size_t i = 0; i < forms_.size();) {
      const bool ran = load(forms_[i].name, [&] {
        compare_form(forms_[i], parity_case, expected, sources.mask, states);
      });
      if (ran)
        ++i;
      else
        forms_.erase(forms_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return true;
  }

  void compare_form(Form& form, const ParityCase& parity_case, const Expected& expected,
                    const NamedTensor& mask, const NamedTensor& states) {
    FormWorst& worst = form.worst;
    const auto each_row = [&](auto action) {
      for (std::size_t row = 0; row < expected.rows.size(); ++row)
        action(expected.rows[row], RowPlace{row, parity_case.name});
    };
    DecoderOutputs outputs = form.graphs->first(parity_case.prompts, mask, states);
    each_row([&](const Expected::Row& row, const RowPlace& place) {
      compare_logits(outputs.logits, row.steps.front().logits, place, worst.first_logits);
      compare_caches(outputs.self, row.steps.front().self, place, worst.first_caches);
      compare_caches(outputs.cross, row.cross, place, worst.first_caches);
    });
    if (parity_case.prompts.front().size() == 1) {
      const auto rows = static_cast<std::int64_t>(parity_case.prompts.size());
      const DecoderOutputs again =
          form.graphs->next(parity_case.prompts, mask, states, form.graphs->no_past(outputs, rows));
      each_row([&](const Expected::Row& row, const RowPlace& place) {
        compare_logits(again.logits, row.steps.front().logits, place, worst.no_past);
      });
    }
    DecoderPast past{std::move(outputs.self), std::move(outputs.cross)};
    for (std::size_t step = 0; step < parity_case.steps.size(); ++step) {
      std::vector<std::vector<std::int64_t>> tokens;
      for (const std::int64_t token : parity_case.steps[step]) tokens.push_back({token});
      outputs = form.graphs->next(tokens, mask, states, past);
      each_row([&](const Expected::Row& row, const RowPlace& place) {
        compare_logits(outputs.logits, row.steps[step + 1].logits, place, worst.later_logits);
        compare_caches(outputs.self, row.steps[step + 1].self, place, worst.later_caches);
      });
      past.self = std::move(outputs.self);
    }
  }

  void report() {
    if (states_.values > 0) add("encoder.states", states_, kStateLimit);
    for (const Form& form : forms_) {
      add(form.name + ".first_logits", form.worst.first_logits, kLogitLimit);
      add(form.name + ".first_caches", form.worst.first_caches, kStateLimit);
      add(form.name + ".no_past_logits", form.worst.no_past, kLogitLimit);
      add(form.name + ".later_logits", form.worst.later_logits, kLogitLimit);
      add(form.name + ".later_caches", form.worst.later_caches, kStateLimit);
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
