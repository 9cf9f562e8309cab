#include "sampan/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "architectures/architecture.h"
#include "base/build_commit.h"
#include "base/fail.h"
#include "checkpoint/checkpoint.h"
#include "exporter/checkpoint_origin.h"
#include "exporter/package_files.h"
#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_writer.h"
#include "package/graph_files.h"
#include "package/package_writer.h"
#include "sampan/version.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;

using package::GraphRole;
using package::PackageWriter;

constexpr const char* kSharedData = "model.onnx_data";

/// The graphs in the order in which they are written.
std::array<std::pair<GraphRole, const graph::Model*>, 4> in_order(
    const architectures::Seq2SeqGraphs& graphs) {
  return {{{GraphRole::kEncoder, &graphs.encoder},
           {GraphRole::kDecoder, &graphs.decoder},
           {GraphRole::kDecoderWithPast, &graphs.decoder_with_past},
           {GraphRole::kDecoderMerged, &graphs.decoder_merged}}};
}

/// The first release of ONNX Runtime that loads an operator set.
std::string least_runtime_version(std::int64_t opset) {
  switch (opset) {
    case 14:
      return "1.8.0";
    case 15:
      return "1.10.0";
    case 16:
      return "1.11.0";
    case 17:
      return "1.12.0";
    default:
      return "1.14.0";
  }
}

void check_stop(const ExportOptions& options) {
  if (options.stop.stop_requested())
    base::fail(ErrorCode::kCancelled, "the export was stopped; nothing was written");
}

/// A package in or above the checkpoint's place would take the checkpoint away with the old
/// package.
void check_apart(const fs::path& checkpoint, const fs::path& output) {
  std::error_code error;
  const fs::path source = fs::canonical(checkpoint, error);
  fs::path target = fs::weakly_canonical(fs::absolute(output), error);
  if (!target.has_filename()) target = target.parent_path();
  if (std::ranges::mismatch(target, source).in1 == target.end())
    base::fail(ErrorCode::kInvalidArgument,
               "{}: the checkpoint lies in it and would be replaced; choose another output",
               output.string());
}

class Export {
 public:
  Export(PackageWriter& writer, const ExportOptions& options)
      : writer_(writer), options_(options) {}

  /// Paths of the graphs in the package.
  std::map<GraphRole, std::string> write(const architectures::Seq2SeqGraphs& graphs) {
    return options_.layout == PackageLayout::kShared ? write_shared(graphs)
                                                     : write_separate(graphs);
  }

 private:
  std::map<GraphRole, std::string> write_shared(const architectures::Seq2SeqGraphs& graphs) {
    std::map<GraphRole, std::string> paths;
    PackageWriter::File data = writer_.create(kSharedData);
    graph::DataWriter weights(kSharedData, sink_to(data));
    for (const auto& [role, model] : in_order(graphs))
      paths[role] = write_graph(role, "", *model, [&weights](const graph::Initializer& weight) {
        return weights.place(weight);
      });
    report(kSharedData, data.close().size);
    return paths;
  }

  std::map<GraphRole, std::string> write_separate(const architectures::Seq2SeqGraphs& graphs) {
    std::map<GraphRole, std::string> paths;
    for (const auto& [role, model] : in_order(graphs)) {
      if (fits_protobuf(*model)) {
        paths[role] = write_graph(role, "onnx/", *model, {});
        continue;
      }
      const std::string name = fmt::format("{}_data", package::graph_file_name(role));
      PackageWriter::File data = writer_.create("onnx/" + name);
      graph::DataWriter weights(name, sink_to(data));
      paths[role] = write_graph(
          role, "onnx/", *model,
          [&weights](const graph::Initializer& weight) { return weights.place(weight); });
      report("onnx/" + name, data.close().size);
    }
    return paths;
  }

  /// Whether a model stays well below the 2 GiB of one protobuf message with its weights inside.
  static bool fits_protobuf(const graph::Model& model) {
    constexpr std::uint64_t kLimit = std::uint64_t{2000} << 20;
    std::uint64_t total = 0;
    for (const graph::Initializer& weight : model.graph.initializers)
      total += graph::byte_size(weight);
    return total < kLimit;
  }

  std::string write_graph(GraphRole role, const std::string& folder, const graph::Model& model,
                          const graph::WeightSink& weights) {
    std::string path = folder + std::string(package::graph_file_name(role));
    PackageWriter::File file = writer_.create(path);
    graph::write_model(model, sink_to(file), weights);
    report(path, file.close().size);
    return path;
  }

  graph::ByteSink sink_to(PackageWriter::File& file) const {
    return [this, &file](std::span<const std::byte> bytes) {
      check_stop(options_);
      file.write(bytes);
    };
  }

  void report(const std::string& path, std::uint64_t bytes) const {
    if (options_.report) options_.report(fmt::format("wrote {}: {} bytes", path, bytes));
  }

  PackageWriter& writer_;
  const ExportOptions& options_;
};

package::Manifest manifest_of(const checkpoint::Checkpoint& checkpoint,
                              const ExportOptions& options) {
  const checkpoint::ModelConfig& config = checkpoint.config;
  package::Manifest manifest;
  manifest.producer = {"sampan", version(), std::string(base::build_commit())};
  manifest.source = exporter::origin_of(checkpoint);
  manifest.architecture = config.model_type;
  manifest.precision = "fp32";
  manifest.scheme = "none";
  manifest.layout = options.layout == PackageLayout::kShared ? "shared" : "separate";
  manifest.opset = options.opset;
  manifest.least_runtime_version = least_runtime_version(options.opset);
  manifest.special_tokens = {config.pad_token_id, config.eos_token_id, config.bos_token_id,
                             config.decoder_start_token_id};
  return manifest;
}

}  // namespace

void export_checkpoint(const std::filesystem::path& checkpoint_folder,
                       const std::filesystem::path& output, const ExportOptions& options) {
  const checkpoint::Checkpoint checkpoint = checkpoint::open_checkpoint(checkpoint_folder);
  check_apart(checkpoint_folder, output);
  PackageWriter writer(output, options.force);  // early: it refuses an output that is taken
  const architectures::Seq2SeqGraphs graphs =
      architectures::build_graphs(checkpoint, {options.opset, options.report});
  for (const auto& [role, model] : in_order(graphs)) graph::check_model(*model);

  exporter::add_package_files(checkpoint, writer);
  package::Manifest manifest = manifest_of(checkpoint, options);
  manifest.graphs = Export(writer, options).write(graphs);
  check_stop(options);
  writer.finish(std::move(manifest));
}

}  // namespace sampan
