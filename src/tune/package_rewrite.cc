#include "tune/package_rewrite.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/build_commit.h"
#include "base/contained_path.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/system_error.h"
#include "graph/checker.h"
#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"
#include "package/package.h"
#include "sampan/version.h"
#include "session/sequence_model.h"

namespace sampan::tune {
namespace {

namespace fs = std::filesystem;
using package::PackageWriter;

/// Calls `visit` for every initializer of a graph and its branches.
template <typename Visit>
void for_each_initializer(const graph::Graph& graph, const Visit& visit) {
  for (const graph::Initializer& initializer : graph.initializers) visit(initializer);
  for (const graph::Node& node : graph.nodes)
    for (const auto& [name, value] : node.attributes) {
      if (const auto* tensor = std::get_if<graph::Initializer>(&value)) visit(*tensor);
      if (const auto* branch = std::get_if<std::shared_ptr<const graph::Graph>>(&value))
        for_each_initializer(**branch, visit);
    }
}

std::set<std::string> data_locations(const graph::Graph& graph) {
  std::set<std::string> locations;
  for_each_initializer(graph, [&](const graph::Initializer& initializer) {
    if (const auto* place = std::get_if<graph::ExternalData>(&initializer.data))
      locations.insert(place->location);
  });
  return locations;
}

/// One package on its way from the source to the writer.
class Rewrite {
 public:
  Rewrite(const SourcePackage& source, quantize::Scheme& scheme, PackageWriter& writer,
          const Progress& progress)
      : source_(source), scheme_(scheme), writer_(writer), progress_(progress) {}

  QuantizeSummary run() {
    std::set<std::string> written;
    for (const auto& [role, path] : source_.manifest.graphs) {
      rewrite_graph(path);
      written.insert(path);
    }
    for (auto& [path, data] : data_) {
      finish_weights(path, data->file);
      written.insert(path);
    }
    if (!changed_)
      base::fail(ErrorCode::kUnsupported,
                 "{}: has no weight that this scheme can quantise; keep fewer in fp32",
                 source_.folder.string());
    for (const package::FileEntry& file : source_.manifest.files) {
      summary_.package_bytes_before += file.size;
      if (written.contains(file.path)) summary_.graph_bytes_before += file.size;
      if (!written.contains(file.path)) copy(file.path);
    }
    seal();
    return std::move(summary_);
  }

 private:
  /// A data file under way and what writes weights into it.
  struct Data {
    PackageWriter::File file;
    std::unique_ptr<graph::DataWriter> weights;
  };

  void rewrite_graph(const std::string& path) {
    progress_.check_stop();
    const fs::path file = base::contained_path(source_.folder, path, source_.folder);
    graph::Model model = graph::read_model_file(file);
    const std::set<std::string> locations = data_locations(model.graph);
    if (locations.size() > 1)
      base::fail(ErrorCode::kUnsupported, "{}: its weights lie in several files; export it again",
                 file.string());
    graph::open_external_data(model, file);
    graph::check_model(model);
    const graph::Model result = scheme_.rewrite(model, path);
    graph::check_model(result);
    note_float_weights(model.graph, result.graph);
    graph::WeightSink place;
    if (!locations.empty()) {
      const fs::path data = fs::path(path).parent_path() / *locations.begin();
      graph::DataWriter& weights = data_writer(data.generic_string(), *locations.begin());
      place = [&weights](const graph::Initializer& weight) { return weights.place(weight); };
    }
    PackageWriter::File output = writer_.create(path);
    graph::write_model(result, sink_to(output), place);
    finish_weights(path, output);
  }

  /// Matrices that are in both graphs were left alone; those that are gone were quantised.
  void note_float_weights(const graph::Graph& before, const graph::Graph& after) {
    std::set<std::string> stayed;
    for_each_initializer(
        after, [&](const graph::Initializer& initializer) { stayed.insert(initializer.name); });
    for_each_initializer(before, [&](const graph::Initializer& initializer) {
      if (initializer.name.empty() || initializer.dtype != tensor::DType::kF32 ||
          initializer.shape.size() < 2)
        return;
      if (!stayed.contains(initializer.name)) {
        changed_ = true;
      } else if (noted_.insert(initializer.name).second) {
        summary_.kept_float.push_back({initializer.name, graph::byte_size(initializer)});
      }
    });
  }

  graph::DataWriter& data_writer(const std::string& path, const std::string& location) {
    std::unique_ptr<Data>& data = data_[path];
    if (data == nullptr) {
      data = std::make_unique<Data>(Data{writer_.create(path), nullptr});
      data->weights = std::make_unique<graph::DataWriter>(location, sink_to(data->file));
    }
    return *data->weights;
  }

  graph::ByteSink sink_to(PackageWriter::File& file) const {
    return [this, &file](std::span<const std::byte> bytes) {
      progress_.check_stop();
      file.write(bytes);
    };
  }

  void finish_weights(const std::string& path, PackageWriter::File& file) {
    const package::FileEntry entry = file.close();
    summary_.graph_bytes_after += entry.size;
    summary_.package_bytes_after += entry.size;
    progress_.say(fmt::format("wrote {}: {} bytes", path, entry.size));
  }

  void copy(const std::string& path) {
    const base::MappedFile source(base::contained_path(source_.folder, path, source_.folder));
    PackageWriter::File file = writer_.create(path);
    file.write(source.bytes());
    summary_.package_bytes_after += file.close().size;
  }

  void seal() {
    const quantize::SchemeRecord record = scheme_.record();
    package::Manifest manifest = source_.manifest;
    manifest.producer = {"sampan", version(), std::string(base::build_commit())};
    manifest.precision = record.precision;
    manifest.scheme = record.name;
    manifest.scheme_note = record.note;
    if (!package::runtime_suffices(manifest.least_runtime_version, record.least_runtime_version))
      manifest.least_runtime_version = record.least_runtime_version;
    writer_.seal(std::move(manifest));
  }

  const SourcePackage& source_;
  quantize::Scheme& scheme_;
  PackageWriter& writer_;
  const Progress& progress_;
  std::map<std::string, std::unique_ptr<Data>> data_;
  std::set<std::string> noted_;
  bool changed_ = false;
  QuantizeSummary summary_;
};

}  // namespace

SourcePackage open_source(const fs::path& folder) {
  package::open_package(folder, session::runtime_version());
  std::optional<package::Manifest> manifest = package::read_manifest(folder);
  if (!manifest)
    base::fail(ErrorCode::kUnsupported,
               "{}: has no sampan.json; make the package with 'sampan export'", folder.string());
  if (manifest->scheme != "none")
    base::fail(ErrorCode::kUnsupported,
               "{}: is quantised already ({}); quantise the fp32 package it was made from",
               folder.string(), manifest->scheme);
  package::verify_files(folder);
  return {base::absolute_path(folder), *std::move(manifest)};
}

void check_runtime(const quantize::SchemeRecord& record) {
  const std::string runtime = session::runtime_version();
  if (package::runtime_suffices(runtime, record.least_runtime_version)) return;
  base::fail(ErrorCode::kIncompatible,
             "the scheme {} needs ONNX Runtime {} or later, and this one is {}; install a newer "
             "runtime",
             record.name, record.least_runtime_version, runtime);
}

void Progress::say(std::string_view line) const {
  if (report) report(line);
}

void Progress::check_stop() const {
  if (stop.stop_requested())
    base::fail(ErrorCode::kCancelled, "quantising was stopped; nothing was written");
}

QuantizeSummary rewrite_package(const SourcePackage& source, quantize::Scheme& scheme,
                                PackageWriter& writer, const Progress& progress) {
  return Rewrite(source, scheme, writer, progress).run();
}

}  // namespace sampan::tune
