#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "package/package_writer.h"

namespace sampan::exporter {

/// The files of a checkpoint that its tokenizer needs or that describe it, as far as they are
/// there.
std::vector<std::string> tokenizer_files(const checkpoint::Checkpoint& checkpoint);

/// Adds everything but the graphs: config.json, generation_config.json (derived from config.json
/// where the checkpoint has none, as transformers derives it), the tokenizer's files, and a
/// tokenizer.json where the tokenizer can be said in one. `graphs_with_data` are the file names of
/// graphs whose weights get a file of their own.
/// Throws `Error`: kNotFound when the tokenizer lacks a file, kInvalidData, and as the writer does.
void add_package_files(const checkpoint::Checkpoint& checkpoint,
                       const std::vector<std::string>& graphs_with_data,
                       package::PackageWriter& writer);

}  // namespace sampan::exporter
