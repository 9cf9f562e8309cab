#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sampan::checkpoint {

/// Which file of a sharded checkpoint holds which tensors: its `weight_map`, the other way round.
using ShardIndex = std::map<std::string, std::set<std::string, std::less<>>>;

/// Parses `model.safetensors.index.json` or `pytorch_model.bin.index.json`. File names are as
/// written: whoever opens them keeps them inside the folder. `file` is what messages name. Throws
/// `Error` kInvalidData.
ShardIndex parse_shard_index(std::string_view text, const std::filesystem::path& file);

}  // namespace sampan::checkpoint
