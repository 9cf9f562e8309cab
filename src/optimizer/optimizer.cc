#include "sampan/optimizer.h"

#include <fmt/format.h>

#include <memory>
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
#include "translator/package_check.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;
using package::GraphRole;

constexpr const char* kData = "model.onnx_data";

package::Manifest read_source(const package::Package& package) {
  package::verify_files(package.folder);
  package::Manifest manifest = *package::read_manifest(package.folder);
  if (manifest.scheme != "none" || manifest.layout == package::kFusedLayout)
    base::fail(ErrorCode::kUnsupported,
               "{}: is already quantised or optimised (scheme {}, layout {}); optimise the fp32 "
               "package it was made from",
               package.folder.string(), manifest.scheme, manifest.layout);
  return manifest;
}

/// How the matrices of a package are stored, and what the manifest says of it.
struct Form {
  std::string precision;
  std::string scheme;
  std::unique_ptr<optimizer::Projection> decoder;
  std::unique_ptr<optimizer::Projection> encoder;  ///< null: as the decoder
};

Form form_of(const optimizer::PortableWeights& weights, const OptimizeOptions& options) {
  // With these blocks a row is the same to the last bit however many rows there are.
  constexpr quantize::BlockScheme kInt8Blocks{8, 64, true};
  constexpr quantize::BlockScheme kInt4Blocks{4, 32, true};
  switch (options.weights) {
    case OptimizedWeights::kFloat32:
      break;
    case OptimizedWeights::kInt8:
      if (options.optimized_for == OptimizedFor::kThroughput)
        return {"int8", "int8-rows", optimizer::make_int8_rows_projection(weights), nullptr};
      return {"int8", "int8-block64", optimizer::make_block_projection(weights, kInt8Blocks),
              optimizer::make_int8_rows_projection(weights)};
    case OptimizedWeights::kInt4:
      return {"int4", "int4-block32", optimizer::make_block_projection(weights, kInt4Blocks),
              optimizer::make_int8_rows_projection(weights)};
  }
  return {"fp32", "none", optimizer::make_float_projection(weights), nullptr};
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

  /// Nothing is published that does not load and translate.
  void finish(package::Manifest manifest) {
    manifest.graphs = {{GraphRole::kEncoder, "encoder_model.onnx"},
                       {GraphRole::kDecoder, "decoder_model.onnx"}};
    writer_.seal(std::move(manifest));
    translator::check_package(writer_.folder(), options_.stop);
    if (options_.report) options_.report("every graph loads and translates");
    writer_.publish();
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
  const Form form = form_of(weights, options);
  const optimizer::FusedModels models = optimizer::build_fused(
      config, weights, {form.encoder ? *form.encoder : *form.decoder, *form.decoder});
  graph::check_model(models.encoder);
  graph::check_model(models.decoder);
  out.write_graphs(models);
  out.copy_files(manifest, package.folder);
  manifest.producer = {"sampan", version(), std::string(base::build_commit())};
  manifest.layout = package::kFusedLayout;
  manifest.precision = form.precision;
  manifest.scheme = form.scheme;
  manifest.opset = optimizer::kFusedOpset;
  manifest.least_runtime_version = "1.23.0";
  out.finish(std::move(manifest));
}

}  // namespace sampan
