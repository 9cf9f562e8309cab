#include "sampan/exporter.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "architectures/architecture.h"
#include "base/build_commit.h"
#include "base/fail.h"
#include "base/system_error.h"
#include "checkpoint/checkpoint.h"
#include "exporter/checkpoint_origin.h"
#include "exporter/graph_output.h"
#include "exporter/package_files.h"
#include "graph/checker.h"
#include "package/package_writer.h"
#include "sampan/version.h"

namespace sampan {
namespace {

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
  // A package in or above the checkpoint's place would take the checkpoint away with the old
  // package.
  package::check_apart(checkpoint_folder, output, "the checkpoint");
  // Made early: it refuses an output that is taken.
  package::PackageWriter writer(output, options.force);
  const architectures::Seq2SeqGraphs graphs =
      architectures::build_graphs(checkpoint, {options.opset, options.report});
  for (const auto& [role, model] : exporter::in_order(graphs)) graph::check_model(*model);

  std::vector<std::string> with_data;
  if (options.layout == PackageLayout::kSeparate)
    with_data = exporter::graphs_with_data_files(graphs);
  exporter::add_package_files(checkpoint, with_data, writer);
  package::Manifest manifest = manifest_of(checkpoint, options);
  manifest.graphs = exporter::write_graphs(graphs, options, writer);
  exporter::check_stop(options);
  writer.finish(std::move(manifest));
}

}  // namespace sampan
