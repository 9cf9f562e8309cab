#include "exporter/package_config.h"

#include <nlohmann/json.hpp>

namespace sampan::exporter {

std::string config_with_data_files(std::string_view config_json,
                                   const std::vector<std::string>& graphs) {
  if (graphs.empty()) return std::string(config_json);
  nlohmann::json config = nlohmann::json::parse(config_json);
  nlohmann::json& browser = config["transformers.js_config"];
  if (!browser.is_object()) browser = nlohmann::json::object();
  nlohmann::json files = nlohmann::json::object();
  for (const std::string& graph : graphs) files[graph] = 1;  // in one piece
  browser["use_external_data_format"] = files;
  return config.dump(2) + "\n";
}

}  // namespace sampan::exporter
