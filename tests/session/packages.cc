#include "session/packages.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "session/sequence_model.h"
#include "support/folders.h"

namespace sampan::session {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/session";

Golden read_golden() {
  std::ifstream file(kData / "golden.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  Golden result;
  result.vocab_size = json.at("vocab_size");
  result.pad_token_id = json.at("pad_token_id");
  result.max_positions = json.at("max_positions");
  for (const nlohmann::json& item : json.at("cases"))
    result.cases.push_back({item.at("source"), item.at("tokens"), item.at("logits")});
  return result;
}

}  // namespace

const Golden& golden() {
  static const Golden kGolden = read_golden();
  return kGolden;
}

package::Package fixture_package(const std::string& form) {
  return package::open_package(kData / form, runtime_version());
}

decode::SourceBatch golden_sources() {
  decode::SourceBatch sources;
  for (const GoldenCase& item : golden().cases) sources.push_back(item.source);
  return sources;
}

}  // namespace sampan::session
