#pragma once

#include <string>
#include <string_view>

namespace sampan::exporter {

/// The generation_config.json of a checkpoint that has none: the generation fields of its
/// config.json, and the defaults of its family where it lacks them, as
/// GenerationConfig.from_model_config of transformers 4.57 gives them. Fields that are null are
/// left out. `config_json` was checked by `checkpoint::read_model_config`.
std::string derive_generation_config(std::string_view config_json);

}  // namespace sampan::exporter
