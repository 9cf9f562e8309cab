#include "cli/json_line.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace sampan::cli {
namespace {

using Json = nlohmann::ordered_json;

// Vocabulary pieces of a damaged package may hold any bytes; the line stays JSON all the same.
std::string dump(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json range_json(const ByteRange& range) { return Json::array({range.begin, range.end}); }

Json candidate_json(const Translation& candidate) {
  Json object;
  object["translation"] = candidate.text;
  object["tokens"] = candidate.tokens;
  object["score"] = candidate.score;
  object["sentences"] = Json::array();
  for (const SentenceAlignment& sentence : candidate.sentences)
    object["sentences"].push_back(
        {{"source", range_json(sentence.source)}, {"target", range_json(sentence.target)}});
  object["truncated"] = candidate.truncated;
  object["repeats"] = candidate.repeats;
  return object;
}

}  // namespace

std::string translation_json(std::string_view source, std::span<const Translation> candidates) {
  Json object;
  object["source"] = source;
  object.update(candidate_json(candidates.front()));
  if (candidates.size() > 1)
    for (const Translation& candidate : candidates)
      object["alternatives"].push_back(candidate_json(candidate));
  return dump(object);
}

std::string piece_json(std::size_t line, std::string_view piece) {
  Json object;
  object["line"] = line;
  object["piece"] = piece;
  return dump(object);
}

std::string score_json(std::string_view source, std::string_view target,
                       const Translator::TargetScore& score) {
  Json object;
  object["source"] = source;
  object["target"] = target;
  object["tokens"] = score.tokens;
  object["log_probs"] = score.log_probs;
  object["score"] = std::accumulate(score.log_probs.begin(), score.log_probs.end(), 0.0);
  return dump(object);
}

}  // namespace sampan::cli
