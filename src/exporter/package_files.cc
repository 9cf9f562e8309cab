#include "exporter/package_files.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "base/mapped_file.h"
#include "checkpoint/checkpoint_files.h"
#include "exporter/generation_config.h"
#include "exporter/package_config.h"
#include "sampan/error.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace sampan::exporter {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;

constexpr std::array<std::string_view, 10> kTokenizerFiles = {
    "added_tokens.json", "generation_config.json",  "sentencepiece.bpe.model",
    "source.spm",        "special_tokens_map.json", "target.spm",
    "target_vocab.json", "tokenizer.json",          "tokenizer_config.json",
    "vocab.json",
};

/// For loaders that know no SentencePiece models. Ours reads the models themselves.
void add_tokenizer_json(const checkpoint::Checkpoint& checkpoint, package::PackageWriter& writer) {
  try {
    writer.add("tokenizer.json", text::make_tokenizer_json(checkpoint.folder));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;  // such a folder does without one
  }
}

}  // namespace

std::vector<std::string> tokenizer_files(const checkpoint::Checkpoint& checkpoint) {
  const checkpoint::CheckpointFiles files(checkpoint.folder);
  std::vector<std::string> present;
  for (const std::string_view name : kTokenizerFiles)
    if (files.has(name)) present.emplace_back(name);
  return present;
}

void add_package_files(const checkpoint::Checkpoint& checkpoint,
                       const std::vector<std::string>& graphs_with_data,
                       package::PackageWriter& writer) {
  text::open_tokenizer(checkpoint.folder, checkpoint.config.model_type);  // complete and readable
  const checkpoint::CheckpointFiles files(checkpoint.folder);
  const std::string config = base::read_file(files.resolve("config.json"), kLargestFile);
  writer.add("config.json", config_with_data_files(config, graphs_with_data));
  for (const std::string& name : tokenizer_files(checkpoint))
    writer.add(name, base::read_file(files.resolve(name), kLargestFile));
  if (!files.has("generation_config.json"))
    writer.add("generation_config.json", derive_generation_config(config));
  if (!files.has("tokenizer.json") && checkpoint.config.model_type == "marian")
    add_tokenizer_json(checkpoint, writer);
}

}  // namespace sampan::exporter
