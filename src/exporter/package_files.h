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
/// tokenizer.json where the tokenizer can be said in one.
/// Throws `Error`: kNotFound when the tokenizer lacks a file, kInvalidData, and as the writer does.
void add_package_files(const checkpoint::Checkpoint& checkpoint, package::PackageWriter& writer);

}  // namespace sampan::exporter
