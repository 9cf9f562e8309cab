#include "tune/observed_step_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/contained_path.h"
#include "base/fail.h"
#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"
#include "package/graph_files.h"
#include "package/package.h"
#include "quantize/static_int8.h"

namespace sampan::tune {
namespace {

using package::GraphRole;
using session::NamedTensor;

const std::vector<float>& floats_of(const NamedTensor& tensor) {
  return std::get<std::vector<float>>(tensor.data);
}

NamedTensor row_of(const char* name, std::span<const std::int64_t> values) {
  return {name,
          {1, static_cast<std::int64_t>(values.size())},
          std::vector<std::int64_t>(values.begin(), values.end())};
}

}  // namespace

/// A graph whose products' activations are outputs too.
class ObservedStepModel::ObservedGraph {
 public:
  ObservedGraph(const SourcePackage& source, GraphRole role)
      : ObservedGraph(read(source, role), source.manifest.graphs.at(role),
                      role == GraphRole::kEncoder) {}

  const session::GraphSignature& signature() const { return runner_.signature(); }

  std::vector<NamedTensor> run(const std::vector<NamedTensor>& inputs,
                               std::vector<std::string> outputs,
                               const ObserveActivations& observe) const {
    const std::size_t asked = outputs.size();
    outputs.insert(outputs.end(), new_outputs_.begin(), new_outputs_.end());
    std::vector<NamedTensor> made = runner_.run(inputs, outputs);
    std::map<std::string_view, const NamedTensor*> seen;
    for (const NamedTensor& input : inputs) seen.emplace(input.name, &input);
    for (std::size_t i = asked; i < made.size(); ++i) seen.emplace(made[i].name, &made[i]);
    for (const auto& [value, weights] : weights_) {
      const NamedTensor& tensor = *seen.at(value);
      observe({weights, floats_of(tensor), tensor.shape.back(), in_encoder_});
    }
    made.resize(asked);
    return made;
  }

 private:
  /// The weights that each value is multiplied with, in the graph's order.
  using WeightsOfValue = std::map<std::string, std::vector<std::string>, std::less<>>;

  ObservedGraph(graph::Model model, const std::string& name, bool in_encoder)
      : weights_(weights_of_values(model.graph)),
        new_outputs_(new_outputs(model.graph, weights_)),
        in_encoder_(in_encoder),
        runner_(bytes_of(with_outputs(std::move(model), new_outputs_)), name, one_thread()) {}

  static WeightsOfValue weights_of_values(const graph::Graph& graph) {
    WeightsOfValue weights;
    for (quantize::ProductInput& product : quantize::product_inputs(graph))
      weights[product.value].push_back(std::move(product.weight));
    return weights;
  }

  static graph::Model read(const SourcePackage& source, GraphRole role) {
    const std::filesystem::path file =
        base::contained_path(source.folder, source.manifest.graphs.at(role), source.folder);
    graph::Model model = graph::read_model_file(file);
    graph::open_external_data(model, file);
    return model;
  }

  /// What is to be asked for beside the graph's inputs, which the caller has.
  static std::vector<std::string> new_outputs(const graph::Graph& graph,
                                              const WeightsOfValue& weights) {
    std::set<std::string> values;
    for (const auto& [value, names] : weights) values.insert(value);
    for (const graph::ValueInfo& input : graph.inputs) values.erase(input.name);
    return {values.begin(), values.end()};
  }

  static graph::Model with_outputs(graph::Model model, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      if (std::ranges::find(model.graph.outputs, value, &graph::ValueInfo::name) ==
          model.graph.outputs.end())
        model.graph.outputs.push_back({value, tensor::DType::kF32, std::nullopt});
    return model;
  }

  static std::vector<std::byte> bytes_of(const graph::Model& model) {
    std::vector<std::byte> bytes;
    graph::write_model(model, [&](std::span<const std::byte> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
    return bytes;
  }

  /// The same sums in the same order on every machine with the same processor.
  static session::SessionOptions one_thread() {
    session::SessionOptions options;
    options.intra_op_threads = 1;
    return options;
  }

  WeightsOfValue weights_;
  std::vector<std::string> new_outputs_;
  bool in_encoder_;
  session::GraphRunner runner_;
};

ObservedStepModel::ObservedStepModel(const SourcePackage& source, ObserveActivations observe)
    : observe_(std::move(observe)) {
  for (const GraphRole role :
       {GraphRole::kEncoder, GraphRole::kDecoder, GraphRole::kDecoderWithPast})
    if (!source.manifest.graphs.contains(role))
      base::fail(ErrorCode::kUnsupported,
                 "{}: has no {}, which calibration decodes with; export it again",
                 source.folder.string(), package::graph_file_name(role));
  encoder_ = std::make_unique<const ObservedGraph>(source, GraphRole::kEncoder);
  first_ = std::make_unique<const ObservedGraph>(source, GraphRole::kDecoder);
  next_ = std::make_unique<const ObservedGraph>(source, GraphRole::kDecoderWithPast);
  session::check_encoder(encoder_->signature());
  contract_ = session::read_decoder_contract(first_->signature(), next_->signature());
  max_positions_ = package::open_package(source.folder, session::runtime_version()).max_positions;
}

ObservedStepModel::~ObservedStepModel() = default;

void ObservedStepModel::start(const decode::SourceBatch& sources) {
  if (sources.size() != 1)
    base::fail(ErrorCode::kInternal, "calibration decodes one sentence at a time, not {}",
               sources.size());
  const std::vector<std::int64_t> ones(sources.front().size(), 1);
  mask_ = row_of(session::kEncoderAttentionMask, ones);
  std::vector<NamedTensor> made = encoder_->run(
      {row_of(session::kInputIds, sources.front()), row_of(session::kAttentionMask, ones)},
      {session::kLastHiddenState}, observe_);
  states_ = std::move(made.front());
  states_.name = session::kEncoderHiddenStates;
  past_.clear();
  rows_ = 1;
}

std::vector<NamedTensor> ObservedStepModel::inputs_of(const session::DecoderInputs& inputs,
                                                      std::span<const std::int64_t> tokens) const {
  std::vector<NamedTensor> tensors = {row_of(session::kInputIds, tokens)};
  if (inputs.encoder_attention_mask) tensors.push_back(mask_);
  if (inputs.encoder_hidden_states) tensors.push_back(states_);
  if (inputs.past) tensors.insert(tensors.end(), past_.begin(), past_.end());
  return tensors;
}

/// Outputs from number `first` on become the past of these names.
void ObservedStepModel::keep(std::vector<NamedTensor>& made, std::size_t first,
                             const std::vector<session::CacheNames>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    NamedTensor& tensor = made.at(first + i);
    tensor.name = names[i].past;
    const auto old = std::ranges::find(past_, tensor.name, &NamedTensor::name);
    if (old == past_.end())
      past_.push_back(std::move(tensor));
    else
      *old = std::move(tensor);
  }
}

std::span<float> ObservedStepModel::step(std::span<const std::int64_t> tokens, std::int64_t) {
  const bool is_first = past_.empty();
  const std::size_t self = contract_.self_attention.size();
  std::vector<std::string> outputs = {session::kLogits};
  for (const auto& name : contract_.self_attention) outputs.push_back(name.present);
  if (is_first)
    for (const auto& name : contract_.cross_attention) outputs.push_back(name.present);
  std::vector<NamedTensor> made =
      is_first ? first_->run(inputs_of(contract_.first, tokens), outputs, observe_)
               : next_->run(inputs_of(contract_.next, tokens), outputs, observe_);
  keep(made, 1, contract_.self_attention);
  if (is_first) keep(made, 1 + self, contract_.cross_attention);
  logits_ = std::get<std::vector<float>>(std::move(made.front().data));
  return logits_;
}

void ObservedStepModel::select(std::span<const std::int64_t> origins) {
  if (origins.size() > 1 || (origins.size() == 1 && origins.front() != 0))
    base::fail(ErrorCode::kInternal, "calibration keeps one row, and {} were asked for",
               origins.size());
  rows_ = std::ssize(origins);
}

}  // namespace sampan::tune
