#include "verify/model_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/processor.h"
#include "verify/model_side.h"
#include "verify/tensor_difference.h"

namespace sampan::verify {
namespace {

using session::NamedTensor;

/// The largest difference of a value among all cases.
struct Found {
  TensorDifference difference;
  std::string case_name;
  bool compared = false;
  std::string problem;  // why it was not compared
};

double limit_of(const TensorDifference& difference, double limit) {
  return difference.exact ? 0.0 : limit;
}

bool differs(const TensorDifference& difference, double limit) {
  return !(difference.largest <= limit_of(difference, limit));
}

class Comparison {
 public:
  Comparison(const RunnableModel& model, const ModelSide& other, std::vector<InputCase> cases,
             const ModelComparisonOptions& options)
      : model_(model), other_(other), cases_(std::move(cases)), options_(options) {}

  Report run() && {
    list_outputs();
    for (const InputCase& input_case : cases_) compare_outputs(input_case);
    for (const std::string& name : common_) report_output(name);
    if (failing_case_ != nullptr) locate();
    return std::move(report_);
  }

 private:
  void tell(std::string_view what) const {
    if (options_.stop.stop_requested())
      base::fail(ErrorCode::kCancelled, "stopped before the comparison was done");
    if (options_.progress) options_.progress(what);
  }

  void list_outputs() {
    const std::vector<std::string> ours = model_.outputs();
    const std::vector<std::string> theirs = other_.outputs();
    const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
      return std::ranges::find(names, name) != names.end();
    };
    for (const std::string& name : ours)
      if (contains(theirs, name))
        common_.push_back(name);
      else
        report_.checks.push_back(
            not_checked("output." + name, fmt::format("{} has no such output", other_.name())));
    if (common_.empty())
      base::fail(ErrorCode::kInvalidArgument,
                 "{} and {} have no output in common: {} and {}; compare models of one export, or "
                 "name arrays after the outputs",
                 model_.name(), other_.name(), fmt::join(ours, ", "), fmt::join(theirs, ", "));
    for (const std::string& name : theirs)
      // Recorded inner values are no outputs that the model lacks.
      if (!contains(ours, name) && !model_.has(name))
        report_.checks.push_back(
            not_checked("output." + name, fmt::format("{} has no such output", model_.name())));
  }

  void compare_outputs(const InputCase& input_case) {
    tell(fmt::format("comparing outputs: {}", input_case.name));
    std::vector<std::optional<NamedTensor>> ours;
    std::vector<std::optional<NamedTensor>> theirs;
    try {
      ours = model_.values(input_case.tensors, common_);
    } catch (const Error& error) {
      report_.checks.push_back(not_checked("runs", fmt::format("{}: {}; give inputs that the model "
                                                               "takes with --inputs or --dim",
                                                               input_case.name, error.what())));
      return;
    }
    try {
      theirs = other_.values(input_case.tensors, common_);
    } catch (const Error& error) {
      report_.checks.push_back(
          failed("runs", fmt::format("{}: {} ran, but not the other: {}", input_case.name,
                                     model_.name(), error.what())));
      return;
    }
    for (std::size_t i = 0; i < common_.size(); ++i) {
      Found& found = outputs_[common_[i]];
      if (!ours[i] || !theirs[i]) {
        found.problem = "holds no numbers that can be compared";
        continue;
      }
      TensorDifference difference = difference_of(*ours[i], *theirs[i]);
      if (differs(difference, options_.limit) && failing_case_ == nullptr)
        failing_case_ = &input_case;
      if (found.compared && difference.largest <= found.difference.largest) continue;
      found = {std::move(difference), input_case.name, true, {}};
    }
  }

  void report_output(const std::string& name) {
    const Found& found = outputs_[name];
    if (!found.compared) {
      if (!found.problem.empty())
        report_.checks.push_back(not_checked("output." + name, found.problem));
      return;
    }
    const TensorDifference& difference = found.difference;
    report_.checks.push_back(
        limited("output." + name, difference.largest, limit_of(difference, options_.limit),
                difference.where.empty() ? "equal" : found.case_name + ", " + difference.where));
  }

  /// Nodes' results that both sides know, in the model's order, with the node that makes each.
  std::vector<std::pair<std::string, const graph::Node*>> common_values() const {
    std::vector<std::pair<std::string, const graph::Node*>> values;
    for (const graph::Node& node : model_.model()->graph.nodes)
      for (const std::string& output : node.outputs)
        if (!output.empty() && other_.has(output)) values.emplace_back(output, &node);
    return values;
  }

  void locate() {
    if (model_.model() == nullptr) {
      report_.checks.push_back(not_checked("first_node", model_.unread()));
      return;
    }
    tell("looking for the first node that differs");
    const auto values = common_values();
    std::vector<std::string> names;
    for (const auto& [name, node] : values) names.push_back(name);
    try {
      const auto ours = model_.values(failing_case_->tensors, names);
      const auto theirs = other_.values(failing_case_->tensors, names);
      for (std::size_t i = 0; i < values.size(); ++i)
        if (ours[i] && theirs[i]) add_inner(*values[i].second, *ours[i], *theirs[i]);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      report_.checks.push_back(not_checked("first_node", error.what()));
    }
  }

  void add_inner(const graph::Node& node, const NamedTensor& ours, const NamedTensor& theirs) {
    const TensorDifference difference = difference_of(ours, theirs);
    if (report_.places.empty() && differs(difference, options_.limit)) {
      const std::string before =
          report_.inner_values.empty()
              ? "no value before it is known to both"
              : fmt::format("the {} values before it that both know agree, the last being '{}'",
                            report_.inner_values.size(), report_.inner_values.back().name);
      report_.places.push_back(
          {model_.name(), ours.name, node.op_type, node.name, difference.largest,
           limit_of(difference, options_.limit),
           fmt::format("{}, {}; {}", failing_case_->name, difference.where, before)});
    }
    report_.inner_values.push_back(
        {model_.name(), ours.name, difference.largest, difference.relative_error});
  }

  const RunnableModel& model_;
  const ModelSide& other_;
  const std::vector<InputCase> cases_;
  const ModelComparisonOptions& options_;
  std::vector<std::string> common_;
  std::map<std::string, Found, std::less<>> outputs_;
  const InputCase* failing_case_ = nullptr;
  Report report_;
};

void check_options(const ModelComparisonOptions& options) {
  if (options.against.empty() == options.expected.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "a model is compared either with another one (--against) or with recorded values "
               "(--expect); give one of them");
  if (!options.expected.empty() && !options.inputs.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "--inputs belongs to --against; with --expect the inputs stand beside the expected "
               "outputs");
  if (options.made_up.id_limit && *options.made_up.id_limit < 1)
    base::fail(ErrorCode::kInvalidArgument, "ids must lie below 1 or more, not {}",
               *options.made_up.id_limit);
  for (const auto& [axis, size] : options.made_up.axes)
    if (size < 0)
      base::fail(ErrorCode::kInvalidArgument, "axis '{}' cannot be {} long", axis, size);
  if (!(options.limit >= 0))
    base::fail(ErrorCode::kInvalidArgument, "a limit of {} makes no sense; give 0 or more",
               options.limit);
}

std::vector<std::string> input_names(const RunnableModel& model) {
  std::vector<std::string> names;
  for (const auto& input : model.signature().inputs) names.push_back(input.name);
  return names;
}

InputCase inputs_of_both(const RunnableModel& model, const RunnableModel& other,
                         const std::filesystem::path& path) {
  const tensor::NpzFile file(path);
  InputCase result = read_inputs(model.signature(), file, path.string());
  for (NamedTensor& input : read_inputs(other.signature(), file, path.string()).tensors)
    if (model.signature().input(input.name) == nullptr) result.tensors.push_back(std::move(input));
  return result;
}

std::vector<InputCase> made_up_inputs(const RunnableModel& model, const RunnableModel& other,
                                      const InputOptions& options) {
  std::vector<graph::Model> models;
  for (const RunnableModel* side : {&model, &other})
    if (side->model() != nullptr) models.push_back(*side->model());
  return make_inputs(std::vector{model.signature(), other.signature()}, models, options);
}

Report compare(const RunnableModel& model, const ModelComparisonOptions& options,
               const session::SessionOptions& session) {
  if (!options.expected.empty()) {
    const RecordedValues recorded(options.expected, input_names(model));
    std::vector<InputCase> cases;
    cases.push_back(read_inputs(model.signature(), tensor::NpzFile(options.expected),
                                options.expected.string()));
    return Comparison(model, recorded, std::move(cases), options).run();
  }
  const RunnableModel other(options.against, session);
  std::vector<InputCase> cases;
  if (options.inputs.empty())
    cases = made_up_inputs(model, other, options.made_up);
  else
    cases.push_back(inputs_of_both(model, other, options.inputs));
  return Comparison(model, other, std::move(cases), options).run();
}

}  // namespace

Report compare_models(const std::filesystem::path& file, const ModelComparisonOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  check_options(options);
  session::SessionOptions session;
  session.intra_op_threads = options.threads > 0 ? options.threads : base::usable_threads();
  if (options.progress) options.progress("loading models");
  const RunnableModel model(file, session);
  Report report = compare(model, options, session);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace sampan::verify
