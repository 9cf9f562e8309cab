#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/model_config.h"
#include "checkpoint/tensor_store.h"

namespace sampan::checkpoint {

/// A HuggingFace checkpoint folder, opened and checked.
///
/// Weights are taken from the first of: `model.safetensors`, `model.safetensors.index.json` with
/// its shards, `pytorch_model.bin` (torch's zip container or the older stream),
/// `pytorch_model.bin.index.json` with its shards. No code of the checkpoint is ever run, and no
/// file outside the folder is opened, but for those of the hub cache that it is a snapshot of.
struct Checkpoint {
  std::filesystem::path folder;
  ModelConfig config;
  TensorStore weights;
  /// Every file that was or must be read, relative to `folder`: config and weights.
  std::vector<std::filesystem::path> files;
};

/// Opens a checkpoint. Throws `Error`: kNotFound (folder or a required file is missing),
/// kInvalidData (damaged, truncated, hostile, a Git LFS pointer or a web page), kUnsupported.
Checkpoint open_checkpoint(const std::filesystem::path& folder);

}  // namespace sampan::checkpoint
