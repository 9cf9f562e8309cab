#include "checkpoint/checkpoint.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/shard_index.h"
#include "checkpoint/torch_file.h"

namespace sampan::checkpoint {
namespace {

constexpr const char* kConfig = "config.json";
constexpr std::size_t kLongestIndex = 64 << 20;

using Reader = void (*)(std::span<const std::byte>, const std::filesystem::path&, TensorStore&);

/// A kind of weights file, under the names that model hubs give it.
struct Format {
  const char* file;
  const char* index;
  Reader read;
};

constexpr Format kFormats[] = {
    {"model.safetensors", "model.safetensors.index.json", read_safetensors},
    {"pytorch_model.bin", "pytorch_model.bin.index.json", read_torch_file},
};

/// Weights that other programs write and this one does not read.
constexpr const char* kForeignWeights[] = {"tf_model.h5", "flax_model.msgpack", "rust_model.ot",
                                           "model.npz"};

TensorStore read_weights_file(const CheckpointFiles& files, const std::string& name, Reader read) {
  const auto mapping = std::make_shared<const base::MappedFile>(files.resolve(name));
  TensorStore store;
  read(mapping->bytes(), files.shown(name), store);
  store.keep_alive(mapping);
  return store;
}

// A shard may hold tensors that the index gives to another, or to none: the index decides, as in
// transformers.
void add_shard(const CheckpointFiles& files, const Format& format,
               const ShardIndex::value_type& entry, TensorStore& weights) {
  const auto& [name, tensors] = entry;
  if (!files.has(name))
    base::fail(ErrorCode::kNotFound, "{}: names the file '{}', which is missing; download it too",
               files.shown(format.index).string(), base::printable(name));
  const auto shard =
      std::make_shared<const TensorStore>(read_weights_file(files, name, format.read));
  for (const std::string& tensor : tensors) {
    const tensor::TensorView* view = shard->find(tensor);
    if (view == nullptr)
      base::fail(ErrorCode::kInvalidData,
                 "{}: lacks the tensor '{}' that {} says it holds; download both again",
                 files.shown(name).string(), base::printable(tensor), format.index);
    weights.add(tensor, *view, files.shown(format.index));
  }
  weights.keep_alive(shard);
}

void read_sharded(const CheckpointFiles& files, const Format& format, Checkpoint& checkpoint) {
  const std::string text = base::read_file(files.resolve(format.index), kLongestIndex);
  const ShardIndex index = parse_shard_index(text, files.shown(format.index));
  checkpoint.files.emplace_back(format.index);
  // All names are checked before any file is opened.
  for (const auto& [name, tensors] : index) files.check_name(name, files.shown(format.index));
  for (const auto& entry : index) {
    add_shard(files, format, entry, checkpoint.weights);
    checkpoint.files.emplace_back(entry.first);
  }
}

void read_weights(const CheckpointFiles& files, Checkpoint& checkpoint) {
  for (const Format& format : kFormats) {
    if (files.has(format.file)) {
      checkpoint.weights = read_weights_file(files, format.file, format.read);
      checkpoint.files.emplace_back(format.file);
      return;
    }
    if (files.has(format.index)) return read_sharded(files, format, checkpoint);
  }
  std::string found;
  for (const char* name : kForeignWeights)
    if (files.has(name)) found = std::string(" (") + name + " is not supported)";
  base::fail(ErrorCode::kNotFound,
             "{}: has neither model.safetensors nor pytorch_model.bin, nor an index of their "
             "shards{}; download the weights too",
             files.folder().string(), found);
}

}  // namespace

Checkpoint open_checkpoint(const std::filesystem::path& folder) {
  const CheckpointFiles files(folder);
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  const std::string config = base::read_file(files.resolve(kConfig), kLongestModelConfig);
  checkpoint.config = parse_model_config(config, files.shown(kConfig));
  checkpoint.files.emplace_back(kConfig);
  read_weights(files, checkpoint);
  return checkpoint;
}

}  // namespace sampan::checkpoint
