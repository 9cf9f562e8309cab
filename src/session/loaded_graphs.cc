#include "session/loaded_graphs.h"

#include <future>
#include <limits>

#include "base/fail.h"
#include "session/runtime.h"

namespace sampan::session {
namespace {

using package::GraphRole;

const std::filesystem::path& file_of(const package::Package& package, GraphRole role,
                                     const char* name) {
  const auto found = package.graphs.find(role);
  if (found == package.graphs.end())
    base::fail(ErrorCode::kNotFound, "{}: the package has no {}; export it again",
               package.folder.string(), name);
  return found->second;
}

void append_names(const std::vector<CacheNames>& group, std::string CacheNames::*name,
                  std::vector<const char*>& names) {
  for (const CacheNames& tensor : group) names.push_back((tensor.*name).c_str());
}

DecoderRun make_run(const Graph& graph, const DecoderInputs& inputs,
                    const DecoderContract& contract, bool first) {
  DecoderRun run;
  run.graph = &graph;
  run.inputs = inputs;
  run.input_names = {kInputIds, kEncoderAttentionMask};
  if (inputs.encoder_hidden_states) run.input_names.push_back(kEncoderHiddenStates);
  if (inputs.use_cache_branch) run.input_names.push_back(kUseCacheBranch);
  if (inputs.past) {
    append_names(contract.self_attention, &CacheNames::past, run.input_names);
    append_names(contract.cross_attention, &CacheNames::past, run.input_names);
  }
  run.output_names = {kLogits};
  append_names(contract.self_attention, &CacheNames::present, run.output_names);
  if (first) append_names(contract.cross_attention, &CacheNames::present, run.output_names);
  return run;
}

/// Bytes of a graph with its weights. Data files carry any name; what else lies in the folder of a
/// package is small beside them.
std::uintmax_t weight_bytes(const std::filesystem::path& graph) {
  std::error_code ignored;
  std::uintmax_t bytes = std::filesystem::file_size(graph, ignored);
  if (ignored) return 0;
  for (const auto& entry : std::filesystem::directory_iterator(graph.parent_path(), ignored))
    if (entry.is_regular_file(ignored) && entry.path().extension() != ".onnx")
      bytes += entry.file_size(ignored);
  return bytes;
}

/// Of a package with both forms, the merged decoder holds its weights once, where two graphs hold
/// them twice, packed for the processor: 200 to 330 MB less at opus-mt-en-zh's size. Its If costs a
/// step up to 0.2 ms, depending on who wrote the graph, which only the short steps of a small model
/// feel.
bool use_separate_decoders(const package::Package& package) {
  constexpr std::uintmax_t kSmall = std::uintmax_t{128} << 20;
  const auto first = package.graphs.find(GraphRole::kDecoder);
  if (first == package.graphs.end() || !package.graphs.contains(GraphRole::kDecoderWithPast))
    return false;
  return !package.graphs.contains(GraphRole::kDecoderMerged) ||
         weight_bytes(first->second) <= kSmall;
}

/// Loads a package's graphs side by side where there are threads for it: half the time to the first
/// translation goes into the runtime's graph optimisation.
class GraphLoader {
 public:
  GraphLoader(const package::Package& package, const SessionOptions& options)
      : package_(package),
        profile_folder_(options.profile_folder),
        options_(make_runtime_options(options)),
        policy_(intra_op_threads(options) > 1 ? std::launch::async : std::launch::deferred) {}

  /// `name` stands for the file where the package has none.
  std::future<std::unique_ptr<const Graph>> load(GraphRole role, const char* name) const {
    const std::filesystem::path& file = file_of(package_, role, name);
    return std::async(policy_,
                      [this, &file] { return std::make_unique<const Graph>(file, options(file)); });
  }

 private:
  Ort::SessionOptions options(const std::filesystem::path& file) const {
    Ort::SessionOptions options = options_.Clone();
    if (!profile_folder_.empty())
      options.EnableProfiling((profile_folder_ / file.stem()).concat(".profile").c_str());
    return options;
  }

  const package::Package& package_;
  const std::filesystem::path& profile_folder_;
  Ort::SessionOptions options_;
  std::launch policy_;
};

}  // namespace

std::shared_ptr<const LoadedGraphs> load_graphs(const package::Package& package,
                                                const SessionOptions& options) {
  const GraphLoader loader(package, options);
  const bool separate = use_separate_decoders(package);
  auto encoder = loader.load(GraphRole::kEncoder, "encoder_model.onnx");
  auto decoder = separate
                     ? loader.load(GraphRole::kDecoder, "decoder_model.onnx")
                     : loader.load(GraphRole::kDecoderMerged,
                                   "decoder_model_merged.onnx, nor both decoder_model.onnx and "
                                   "decoder_with_past_model.onnx");
  std::future<std::unique_ptr<const Graph>> decoder_with_past;
  if (separate)
    decoder_with_past = loader.load(GraphRole::kDecoderWithPast, "decoder_with_past_model.onnx");

  auto graphs = std::make_shared<LoadedGraphs>();
  graphs->max_positions =
      package.max_positions > 0 ? package.max_positions : std::numeric_limits<std::int64_t>::max();
  graphs->pad_token_id = package.pad_token_id;
  graphs->encoder = encoder.get();
  check_encoder(graphs->encoder->signature());
  graphs->decoder = decoder.get();
  if (separate) graphs->decoder_with_past = decoder_with_past.get();
  const Graph& first = *graphs->decoder;
  const Graph& next = separate ? *graphs->decoder_with_past : first;
  graphs->contract = read_decoder_contract(first.signature(), next.signature());
  graphs->first_run = make_run(first, graphs->contract.first, graphs->contract, true);
  graphs->next_run = make_run(next, graphs->contract.next, graphs->contract, false);
  return graphs;
}

}  // namespace sampan::session
