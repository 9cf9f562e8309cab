#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "sampan/generation.h"

namespace sampan::decode {

/// The texts a package's generation defaults come from, and what messages call them.
struct GenerationConfigTexts {
  std::filesystem::path folder;
  std::optional<std::string_view> generation_config;  ///< generation_config.json
  std::optional<std::string_view> config;             ///< config.json
};

/// Generation defaults as transformers 4.57 takes them: those of generation_config.json alone;
/// those of config.json (and of its model family) where that file is absent, or is marked
/// `_from_model_config` while config.json sets some of its own. Two differences are meant: without
/// a `max_length` targets may have 512 tokens (transformers: 20 new ones), and a missing
/// `eos_token_id` is an error.
///
/// Fields that do not touch the output are passed over. Every other field must be one that sampan
/// has, or stand at the value that leaves the output alone.
///
/// Throws `Error`: kNotFound (neither text), kInvalidData (no JSON object; a value of the wrong
/// type or out of range), kUnsupported (a field that would change the output, by name and value).
GenerationConfig parse_generation_config(const GenerationConfigTexts& texts);

/// The same for the files of a folder. Throws also kPermissionDenied, and kResourceExhausted for a
/// file over 4 MB.
GenerationConfig read_generation_config(const std::filesystem::path& folder);

}  // namespace sampan::decode
