#include "session/packages.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace sampan::session {
namespace {

const std::filesystem::path kData = std::filesystem::path(SAMPAN_SOURCE_DIR) / "tests/data/session";

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
  using package::GraphRole;
  package::Package result;
  result.folder = kData / form;
  result.model_type = "marian";
  result.max_positions = golden().max_positions;
  result.pad_token_id = golden().pad_token_id;
  result.graphs[GraphRole::kEncoder] = result.folder / "encoder_model.onnx";
  if (form == "merged") {
    result.graphs[GraphRole::kDecoderMerged] = result.folder / "decoder_model_merged.onnx";
  } else {
    result.graphs[GraphRole::kDecoder] = result.folder / "decoder_model.onnx";
    result.graphs[GraphRole::kDecoderWithPast] = result.folder / "decoder_with_past_model.onnx";
  }
  return result;
}

decode::SourceBatch golden_sources() {
  decode::SourceBatch sources;
  for (const GoldenCase& item : golden().cases) sources.push_back(item.source);
  return sources;
}

}  // namespace sampan::session
