#include "sampan/optimizer.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/build_commit.h"
#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "checkpoint/model_config.h"
#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_writer.h"
#include "optimizer/fused_graphs.h"
#include "optimizer/portable_weights.h"
#include "optimizer/projection.h"
#include "package/fused_layout.h"
#include "package/package.h"
#include "package/package_writer.h"
#include "sampan/version.h"
#include "session/sequence_model.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;
using package::GraphRole;

constexpr std::size_t kMostManifestBytes = std::size_t{1} << 20;
constexpr const char* kData = "model.onnx_data";

package::Manifest read_source(const package::Package& package) {
  package::verify_files(package.folder);
  const fs::path file = package.folder / package::kManifestName;
  package::Manifest manifest =
      package::parse_manifest(base::read_file(file, kMostManifestBytes), file);
  if (manifest.scheme != "none" || manifest.layout == package::kFusedLayout)
    base::fail(ErrorCode::kUnsupported,
               "{}: is already quantised or optimised (scheme {}, layout {}); optimise the fp32 "
               "package it was made from",
               package.folder.string(), manifest.scheme, manifest.layout);
  return manifest;
}

/// Writes one package: graphs with a common data file, and what is copied from the source.
class PackageOutput {
 public:
  PackageOutput(const fs::path& output, const OptimizeOptions& options)
      : options_(options), writer_(output, options.force) {}

  void write_graphs(const optimizer::FusedModels& models) {
    package::PackageWriter::File data = writer_.create(kData);
    graph::DataWriter weights(kData, sink_to(data));
    write_graph("encoder_model.onnx", models.encoder, weights);
    write_graph("decoder_model.onnx", models.decoder, weights);
    say(kData, data.close().size);
  }

  /// Copies every file of the source that belongs to none of its graphs.
  void copy_files(const package::Manifest& source, const fs::path& folder) {
    for (const package::FileEntry& file : source.files) {
      const std::string name = fs::path(file.path).filename().string();
      if (name.find(".onnx") != std::string::npos) continue;
      const base::MappedFile content(base::contained_path(folder, file.path, folder));
      package::PackageWriter::File copy = writer_.create(file.path);
      copy.write(content.bytes());
      copy.close();
    }
  }

  void finish(package::Manifest manifest) {
    manifest.graphs = {{GraphRole::kEncoder, "encoder_model.onnx"},
                       {GraphRole::kDecoder, "decoder_model.onnx"}};
    writer_.finish(std::move(manifest));
  }

 private:
  void write_graph(const std::string& name, const graph::Model& model, graph::DataWriter& weights) {
    package::PackageWriter::File file = writer_.create(name);
    graph::write_model(model, sink_to(file),
                       [&](const graph::Initializer& weight) { return weights.place(weight); });
    say(name, file.close().size);
  }

  graph::ByteSink sink_to(package::PackageWriter::File& file) const {
    return [this, &file](std::span<const std::byte> bytes) {
      if (options_.stop.stop_requested())
        base::fail(ErrorCode::kCancelled, "optimising was stopped; nothing was written");
      file.write(bytes);
    };
  }

  void say(const std::string& path, std::uint64_t bytes) const {
    if (options_.report) options_.report(fmt::format("wrote {}: {} bytes", path, bytes));
  }

  const OptimizeOptions& options_;
  package::PackageWriter writer_;
};

}  // namespace

void optimize_package(const fs::path& folder, const fs::path& output,
                      const OptimizeOptions& options) {
  const package::Package package = package::open_package(folder, session::runtime_version());
  package::Manifest manifest = read_source(package);
  const checkpoint::ModelConfig config =
      checkpoint::parse_model_config(package.config_json, package.folder / "config.json");
  PackageOutput out(output, options);  // early: it refuses an output that is taken

  const optimizer::PortableWeights weights(package);
  const auto projection = optimizer::make_float_projection(weights);
  const optimizer::FusedModels models =
      optimizer::build_fused(config, weights, {*projection, *projection});
  graph::check_model(models.encoder);
  graph::check_model(models.decoder);
  out.write_graphs(models);
  out.copy_files(manifest, package.folder);
  manifest.producer = {"sampan", version(), std::string(base::build_commit())};
  manifest.layout = package::kFusedLayout;
  manifest.opset = optimizer::kFusedOpset;
  manifest.least_runtime_version = "1.23.0";
  out.finish(std::move(manifest));
}

}  // namespace sampan
