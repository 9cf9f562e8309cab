#include "exporter/graph_output.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/fail.h"
#include "graph/external_data.h"
#include "graph/onnx_writer.h"
#include "package/graph_files.h"

namespace sampan::exporter {
namespace {

using package::GraphRole;
using package::PackageWriter;

constexpr const char* kSharedData = "model.onnx_data";
constexpr const char* kSeparateFolder = "onnx/";

class GraphOutput {
 public:
  GraphOutput(const ExportOptions& options, PackageWriter& writer)
      : options_(options), writer_(writer) {}

  std::map<GraphRole, std::string> write_shared(const architectures::Seq2SeqGraphs& graphs) {
    std::map<GraphRole, std::string> paths;
    PackageWriter::File data = writer_.create(kSharedData);
    graph::DataWriter weights(kSharedData, sink_to(data));
    for (const auto& [role, model] : in_order(graphs))
      paths[role] = write_graph(role, "", *model, &weights);
    report(kSharedData, data.close().size);
    return paths;
  }

  std::map<GraphRole, std::string> write_separate(const architectures::Seq2SeqGraphs& graphs) {
    const std::vector<std::string> with_data = graphs_with_data_files(graphs);
    std::map<GraphRole, std::string> paths;
    for (const auto& [role, model] : in_order(graphs))
      paths[role] = std::ranges::count(with_data, package::graph_file_name(role)) == 0
                        ? write_graph(role, kSeparateFolder, *model, nullptr)
                        : write_with_data(role, *model);
    return paths;
  }

 private:
  std::string write_with_data(GraphRole role, const graph::Model& model) {
    const std::string name = fmt::format("{}_data", package::graph_file_name(role));
    PackageWriter::File data = writer_.create(kSeparateFolder + name);
    graph::DataWriter weights(name, sink_to(data));
    std::string path = write_graph(role, kSeparateFolder, model, &weights);
    report(kSeparateFolder + name, data.close().size);
    return path;
  }

  // Without a writer of weights they go inside.
  std::string write_graph(GraphRole role, const std::string& folder, const graph::Model& model,
                          graph::DataWriter* weights) {
    std::string path = folder + std::string(package::graph_file_name(role));
    PackageWriter::File file = writer_.create(path);
    graph::WeightSink place;
    if (weights != nullptr)
      place = [weights](const graph::Initializer& weight) { return weights->place(weight); };
    graph::write_model(model, sink_to(file), place);
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

  const ExportOptions& options_;
  PackageWriter& writer_;
};

}  // namespace

std::vector<std::string> graphs_with_data_files(const architectures::Seq2SeqGraphs& graphs,
                                                std::uint64_t most_inside) {
  std::vector<std::string> names;
  for (const auto& [role, model] : in_order(graphs)) {
    std::uint64_t total = 0;
    for (const graph::Initializer& weight : model->graph.initializers)
      total += graph::byte_size(weight);
    if (total >= most_inside) names.emplace_back(package::graph_file_name(role));
  }
  return names;
}

std::map<GraphRole, std::string> write_graphs(const architectures::Seq2SeqGraphs& graphs,
                                              const ExportOptions& options, PackageWriter& writer) {
  GraphOutput output(options, writer);
  return options.layout == PackageLayout::kShared ? output.write_shared(graphs)
                                                  : output.write_separate(graphs);
}

void check_stop(const ExportOptions& options) {
  if (options.stop.stop_requested())
    base::fail(ErrorCode::kCancelled, "the export was stopped; nothing was written");
}

std::vector<std::pair<GraphRole, const graph::Model*>> in_order(
    const architectures::Seq2SeqGraphs& graphs) {
  return {{GraphRole::kEncoder, &graphs.encoder},
          {GraphRole::kDecoder, &graphs.decoder},
          {GraphRole::kDecoderWithPast, &graphs.decoder_with_past},
          {GraphRole::kDecoderMerged, &graphs.decoder_merged}};
}

}  // namespace sampan::exporter
