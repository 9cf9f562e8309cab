#include "text/marian_tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sampan/error.h"
#include "support/folders.h"
#include "text/random_text.h"

namespace sampan::text {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<std::int64_t>;

const fs::path kData = fs::path(kSourceFolder) / "tests/data";

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

std::string golden_line(const Ids& ids) {
  std::uint32_t hash = 2166136261U;
  for (const std::int64_t id : ids) hash = (hash ^ static_cast<std::uint32_t>(id)) * 16777619U;
  return fmt::format("{} {:08x}", ids.size(), hash);
}

std::string golden_line(const std::string& text) {
  Ids bytes;
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return golden_line(bytes);
}

const MarianTokenizer& bundled() {
  static const MarianTokenizer tokenizer(fs::path(kSourceFolder) / "models/tatoeba-en-zh");
  return tokenizer;
}

TEST(MarianTokenizer, SharedEnglishLinesGetTheIdsOfTransformers) {
  for (const char* name :
       {"tatoeba-test.en", "tatoeba-dev.en", "flores-devtest.en", "calibration.en"}) {
    const auto texts = lines_of(kData / "corpus" / name);
    const auto golden = lines_of(kData / "text" / (std::string("ids.") + name));
    ASSERT_EQ(texts.size(), golden.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(golden_line(bundled().encode(texts[i], "")), golden[i]) << name << ": " << texts[i];
  }
}

TEST(MarianTokenizer, SharedChineseLinesGetTheTargetIdsOfTransformers) {
  for (const char* name : {"tatoeba-test.zh", "tatoeba-dev.zh", "flores-devtest.zh"}) {
    const auto texts = lines_of(kData / "corpus" / name);
    const auto golden = lines_of(kData / "text" / (std::string("ids.") + name));
    ASSERT_EQ(texts.size(), golden.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(golden_line(bundled().encode_target(texts[i])), golden[i])
          << name << ": " << texts[i];
  }
}

TEST(MarianTokenizer, RandomUnicodeGetsTheIdsOfTransformers) {
  const auto source = lines_of(kData / "text/ids.random");
  const auto target = lines_of(kData / "text/ids.random.target");
  ASSERT_EQ(source.size(), target.size());
  Random random(1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string text = random_text(random);
    EXPECT_EQ(golden_line(bundled().encode(text, "")), source[i]) << i << ": " << text;
    EXPECT_EQ(golden_line(bundled().encode_target(text)), target[i]) << i << ": " << text;
  }
}

TEST(MarianTokenizer, RandomIdsDecodeAsInTransformers) {
  const auto golden = lines_of(kData / "text/decoded.random");
  Random random(2);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const Ids ids = random_ids(random, 9821);
    EXPECT_EQ(golden_line(bundled().decode(ids)), golden[i]) << i << ": " << bundled().decode(ids);
  }
}

class SmallCheckpoint : public ::testing::TestWithParam<const char*> {};

// Tags and one vocabulary; two vocabularies, BPE, byte pieces and cleaned-up spaces.
INSTANTIATE_TEST_SUITE_P(Kinds, SmallCheckpoint, ::testing::Values("tagged", "separate"));

TEST_P(SmallCheckpoint, EncodesAndDecodesAsTransformers) {
  const MarianTokenizer tokenizer(kData / "text" / GetParam());
  for (const std::string& line : lines_of(kData / "text" / (std::string(GetParam()) + ".jsonl"))) {
    const auto golden = nlohmann::json::parse(line);
    if (golden.contains("ids")) {
      EXPECT_EQ(tokenizer.decode(golden["ids"].get<Ids>()), golden["text"].get<std::string>())
          << line;
      continue;
    }
    const auto text = golden["text"].get<std::string>();
    if (golden.contains("source")) {
      EXPECT_EQ(tokenizer.encode(text, ""), golden["source"].get<Ids>()) << line;
    }
    if (golden.contains("target")) {
      EXPECT_EQ(tokenizer.encode_target(text), golden["target"].get<Ids>()) << line;
    }
  }
}

TEST(MarianTokenizer, TargetLanguagePutsItsTagFirst) {
  const MarianTokenizer tokenizer(kData / "text/tagged");
  EXPECT_THAT(tokenizer.target_languages(), ElementsAre("cmn_Hans", "cmn_Hant", "fra"));
  EXPECT_EQ(tokenizer.encode("Hello.", "fra"), tokenizer.encode(">>fra<< Hello.", ""));
  EXPECT_THAT(tokenizer.source_pieces(tokenizer.encode("I", "fra")),
              ElementsAre(">>fra<<", "▁I", "</s>"));
  EXPECT_EQ(tokenizer.source_language(), "eng");
  EXPECT_EQ(tokenizer.target_language(), "zho");
}

TEST(MarianTokenizer, RefusesATargetLanguageThatTheVocabularyLacks) {
  const auto message = [](const MarianTokenizer& tokenizer) {
    try {
      tokenizer.encode("Hello.", "deu");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(MarianTokenizer(kData / "text/tagged")),
              HasSubstr("knows cmn_Hans, cmn_Hant, fra"));
  EXPECT_THAT(message(bundled()), HasSubstr("has one target language"));
}

TEST(MarianTokenizer, OnlyAKnownTagAtTheVeryStartIsATag) {
  const MarianTokenizer tokenizer(kData / "text/tagged");
  const auto tag = tokenizer.language_tag(">>fra<< Hello >>cmn_Hans<<");
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->code, "fra");
  EXPECT_EQ(tag->length, 7U);
  EXPECT_FALSE(tokenizer.language_tag(" >>fra<< Hello"));
  EXPECT_FALSE(tokenizer.language_tag(">>deu<< Hello"));
  EXPECT_FALSE(tokenizer.language_tag(">>fra"));
  EXPECT_FALSE(tokenizer.language_tag(">><<"));
  EXPECT_FALSE(bundled().language_tag(">>fra<< Hello"));
  // An unknown tag is plain text: it yields more than the one <unk> of transformers.
  EXPECT_GT(tokenizer.encode(">>deu<<", "").size(), 2U);
}

TEST(MarianTokenizer, LiteralSpecialTokensArePlainText) {
  const Ids ids = bundled().encode("a </s> b", "");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 0), 1) << "the end of the sentence alone is </s>";
  EXPECT_GT(ids.size(), 4U);
}

TEST(MarianTokenizer, PiecesOfUnknownIdsAreTheUnknownToken) {
  EXPECT_THAT(bundled().target_pieces(Ids{3, -1, 9821, 9820}),
              ElementsAre("▁I", "<unk>", "<unk>", "<pad>"));
  EXPECT_FALSE(bundled().forced_bos_token_id("fra"));
}

TEST(MarianTokenizer, IsSharedByThreads) {
  const MarianTokenizer tokenizer(fs::path(kSourceFolder) / "models/tatoeba-en-zh");
  const Ids source = bundled().encode("How are you?", "");
  const Ids target = bundled().encode_target("你好吗？");
  std::vector<std::thread> threads;
  std::atomic<int> equal = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      equal += tokenizer.encode("How are you?", "") == source;
      equal += tokenizer.encode_target("你好吗？") == target;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 8);
}

TEST(OpenTokenizer, RefusesAnUnknownModelType) {
  try {
    open_tokenizer(kData / "text/tagged", "llama");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("'llama'"));
  }
}

}  // namespace
}  // namespace sampan::text
