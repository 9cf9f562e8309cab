#include "session/fused_graphs.h"

#include <algorithm>
#include <future>
#include <limits>

#include "base/fail.h"
#include "package/fused_layout.h"
#include "session/runtime.h"

namespace sampan::session {
namespace {

namespace fused = package::fused;
using package::GraphRole;

constexpr std::int64_t kNamed = ValueDemand::kNamed;
constexpr std::int64_t kAny = ValueDemand::kAny;

const std::filesystem::path& file_of(const package::Package& package, GraphRole role) {
  const auto found = package.graphs.find(role);
  if (found == package.graphs.end())
    base::fail(ErrorCode::kNotFound,
               "{}: the package has no encoder or no decoder; optimise it again",
               package.folder.string());
  return found->second;
}

/// The number that a graph declares for an axis of a checked value.
std::int64_t declared(const GraphSignature& graph, const ValueSignature& value, std::size_t axis) {
  const std::int64_t dim = value.dims[axis];
  if (dim < 1)
    base::fail(ErrorCode::kInvalidData,
               "{}: '{}' is {}, without a number on axis {}; optimise the package again",
               graph.file, value.name, to_string(value), axis);
  return dim;
}

void check_encoder(const FusedGraphs& graphs) {
  const GraphSignature& graph = graphs.encoder->signature();
  require_input(graph, fused::kInputIds, {"int64", {kNamed, kNamed}});
  require_input(graph, fused::kPositions, {"int64", {kNamed}});
  require_input(graph, fused::kSourceLengths, {"int32", {kNamed}});
  require_output(graph, fused::kCrossAttention,
                 {"float32",
                  {static_cast<std::int64_t>(graphs.cache_tensors), kNamed, graphs.heads, kNamed,
                   graphs.head_dim}});
}

/// Reads sizes and the number of layers from the decoder, and checks its inputs and outputs.
void read_decoder(FusedGraphs& graphs) {
  const GraphSignature& graph = graphs.decoder->signature();
  require_input(graph, fused::kInputIds, {"int64", {kNamed, kNamed}});
  require_input(graph, fused::kPositions, {"int64", {kNamed, kNamed}});
  for (const char* name : {fused::kRowShape, fused::kQueryShape})
    require_input(graph, name, {"int64", {3}});
  require_input(graph, fused::kLastPositions, {"int32", {kNamed}});
  require_input(graph, fused::kTotalLength, {"int32", {1}});
  require_input(graph, fused::kSourceLengths, {"int32", {kNamed}});
  graphs.vocab_size =
      declared(graph, require_output(graph, fused::kLogits, {"float32", {kNamed, kAny}}), 1);
  // A copy: g++ 14 takes a reference for one to the temporary name.
  const ValueSignature key =
      require_input(graph, fused::layer_tensor(fused::kPast, 0, fused::kParts[0]),
                    {"float32", {kNamed, kAny, kNamed, kAny}});
  graphs.heads = declared(graph, key, 1);
  graphs.head_dim = declared(graph, key, 3);
  graphs.d_model = graphs.heads * graphs.head_dim;
  std::size_t layers = 1;
  while (graph.input(fused::layer_tensor(fused::kPast, layers, fused::kParts[0])) != nullptr)
    ++layers;
  graphs.cache_tensors = 2 * layers;
  const ValueDemand demand{"float32", {kNamed, graphs.heads, kNamed, graphs.head_dim}};
  for (const char* kind : {fused::kPast, fused::kCross, fused::kPresent})
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (const char* part : fused::kParts) {
        graphs.tensor_names.push_back(fused::layer_tensor(kind, layer, part));
        const std::string& name = graphs.tensor_names.back();
        if (kind == fused::kPresent)
          require_output(graph, name, demand);
        else
          require_input(graph, name, demand);
      }
}

void list_names(FusedGraphs& graphs) {
  graphs.decoder_inputs = {fused::kInputIds,     fused::kPositions,     fused::kRowShape,
                           fused::kQueryShape,   fused::kLastPositions, fused::kTotalLength,
                           fused::kSourceLengths};
  graphs.decoder_outputs = {fused::kLogits};
  const std::size_t inputs = 2 * graphs.cache_tensors;
  for (std::size_t i = 0; i < graphs.tensor_names.size(); ++i)
    (i < inputs ? graphs.decoder_inputs : graphs.decoder_outputs)
        .push_back(graphs.tensor_names[i].c_str());
  const GraphSignature& graph = graphs.decoder->signature();
  if (graph.inputs.size() != graphs.decoder_inputs.size())
    base::fail(ErrorCode::kInvalidData,
               "{}: has {} inputs where the layout '{}' has {}; optimise the package again",
               graph.file, graph.inputs.size(), package::kFusedLayout,
               graphs.decoder_inputs.size());
}

}  // namespace

std::shared_ptr<const FusedGraphs> load_fused_graphs(const package::Package& package,
                                                     const SessionOptions& options) {
  SessionOptions chosen = options;
  // The graphs are fused as they shall be; the runtime's own fusions would only put the slower
  // SkipLayerNormalization in.
  chosen.optimization_level = std::min(options.optimization_level, OptimizationLevel::kBasic);
  const Ort::SessionOptions runtime_options = make_runtime_options(chosen);
  const auto policy = intra_op_threads(options) > 1 ? std::launch::async : std::launch::deferred;
  const auto load = [&](GraphRole role) {
    const std::filesystem::path& file = file_of(package, role);
    return std::async(policy, [&runtime_options, &file] {
      return std::make_unique<const Graph>(file, runtime_options);
    });
  };
  auto encoder = load(GraphRole::kEncoder);
  auto decoder = load(GraphRole::kDecoder);
  auto graphs = std::make_shared<FusedGraphs>();
  graphs->max_positions =
      package.max_positions > 0 ? package.max_positions : std::numeric_limits<std::int64_t>::max();
  graphs->pad_token_id = package.pad_token_id;
  graphs->encoder = encoder.get();
  graphs->decoder = decoder.get();
  read_decoder(*graphs);
  check_encoder(*graphs);
  list_names(*graphs);
  return graphs;
}

}  // namespace sampan::session
