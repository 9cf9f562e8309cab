#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "sampan/error.h"
#include "support/folders.h"
#include "text/marian_tokenizer.h"

namespace sampan::text {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::vector<std::int64_t>;

const fs::path kData = fs::path(kSourceFolder) / "tests/data/text";
const fs::path kBundled = fs::path(kSourceFolder) / "models/tatoeba-en-zh";

json recorded(const char* name) {
  return json::parse(base::read_file(kData / "tokenizer_json.json", 1 << 20)).at(name);
}

// Digest of the file, which stays where check_tokenizer_json.py looks for it.
std::string digest_written(const fs::path& folder, const std::string& name) {
  const fs::path path = fs::path(kBuildFolder) / "tokenizer_json" / (name + ".json");
  fs::create_directories(path.parent_path());
  std::ofstream(path) << make_tokenizer_json(folder);
  return base::sha256_of_file(path).sha256;
}

// The record was made by comparing these very bytes with MarianTokenizer on 43,512 texts.
TEST(TokenizerJson, IsTheFileWhoseIdsWereProven) {
  EXPECT_EQ(digest_written(kBundled, "bundled"), recorded("bundled")["sha256"].get<std::string>());
  EXPECT_EQ(digest_written(kData / "tagged", "tagged"),
            recorded("tagged")["sha256"].get<std::string>());
}

TEST(TokenizerJson, TiesAndTextOutsideOfTheModelGetTheRecordedIdsOfMarian) {
  const MarianTokenizer bundled(kBundled);
  const json record = recorded("bundled");
  EXPECT_LT(record["ties"].size() * 10'000, record["equal"].get<std::size_t>());
  for (const char* list : {"ties", "examples"})
    for (const json& example : record[list])
      EXPECT_EQ(bundled.encode(example["text"].get<std::string>(), ""),
                example["marian"].get<Ids>())
          << example;
}

TEST(TokenizerJson, HoldsTheVocabularyInItsOrderAndScoresThatTargetPiecesCannotWinWith) {
  const json file = json::parse(make_tokenizer_json(kBundled));
  const MarianTokenizer tokenizer(kBundled);
  const json& entries = file["model"]["vocab"];
  ASSERT_EQ(entries.size(), 9821U);
  double lowest = 0;
  std::size_t longest = 0;
  for (std::size_t id = 0; id < entries.size(); ++id) {
    const auto piece = entries[id][0].get<std::string>();
    EXPECT_EQ(tokenizer.source_pieces(Ids{static_cast<std::int64_t>(id)})[0], piece);
    const auto score = entries[id][1].get<double>();
    if (score > -100) lowest = std::min(lowest, score);
    if (score <= -100) longest = std::max(longest, piece.size() / 3);
  }
  EXPECT_LT(entries[0][1].get<double>(), lowest * static_cast<double>(longest));
  EXPECT_EQ(file["model"]["unk_id"].get<int>(), 1);
}

TEST(TokenizerJson, RefusesACheckpointWithTwoVocabularies) {
  try {
    make_tokenizer_json(kData / "separate");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a vocabulary each"));
  }
}

}  // namespace
}  // namespace sampan::text
