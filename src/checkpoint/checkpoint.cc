#include "checkpoint/checkpoint.h"

#include <memory>
#include <utility>

#include "base/fail.h"
#include "base/mapped_file.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/safetensors.h"

namespace sampan::checkpoint {
namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kSafetensors = "model.safetensors";

}  // namespace

Checkpoint open_checkpoint(const std::filesystem::path& folder) {
  const CheckpointFiles files(folder);
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  checkpoint.config = read_model_config(files.resolve(kConfig));
  const auto mapping = std::make_shared<const base::MappedFile>(files.resolve(kSafetensors));
  read_safetensors(mapping->bytes(), files.shown(kSafetensors), checkpoint.weights);
  checkpoint.weights.keep_alive(mapping);
  checkpoint.files = {kConfig, kSafetensors};
  return checkpoint;
}

}  // namespace sampan::checkpoint
