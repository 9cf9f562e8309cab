#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sampan::exporter {

/// config.json with the field by which transformers.js knows which graphs ("encoder_model.onnx")
/// have their weights in a file of their own; the text as it is where none has. `config_json` was
/// checked by `checkpoint::read_model_config`.
std::string config_with_data_files(std::string_view config_json,
                                   const std::vector<std::string>& graphs);

}  // namespace sampan::exporter
