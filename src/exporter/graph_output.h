#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "architectures/architecture.h"
#include "package/manifest.h"
#include "package/package_writer.h"
#include "sampan/exporter.h"

namespace sampan::exporter {

/// Bytes of weights from which a graph cannot hold them itself: below protobuf's 2 GiB for a
/// message, with room for the nodes.
inline constexpr std::uint64_t kMostWeightsInside = std::uint64_t{2000} << 20;

/// File names of the graphs ("encoder_model.onnx") that get a data file of their own in the layout
/// `separate`, because their weights reach `most_inside` bytes.
std::vector<std::string> graphs_with_data_files(const architectures::Seq2SeqGraphs& graphs,
                                                std::uint64_t most_inside = kMostWeightsInside);

/// Writes the graphs and their weights as `options` says, and returns the graphs' paths in the
/// package. Throws `Error`: kCancelled, and as the writer does.
std::map<package::GraphRole, std::string> write_graphs(const architectures::Seq2SeqGraphs& graphs,
                                                       const ExportOptions& options,
                                                       package::PackageWriter& writer);

/// Throws `Error` kCancelled once the caller of an export asked to stop.
void check_stop(const ExportOptions& options);

/// The graphs in the order in which they are written.
std::vector<std::pair<package::GraphRole, const graph::Model*>> in_order(
    const architectures::Seq2SeqGraphs& graphs);

}  // namespace sampan::exporter
