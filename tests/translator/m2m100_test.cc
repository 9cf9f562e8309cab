// M2M100 from checkpoint to tokens, against what transformers generates (tests/data/m2m100).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "sampan/exporter.h"
#include "sampan/translator.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "text/tokenizer.h"

namespace sampan {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/m2m100";

struct GoldenLine {
  std::string search, language, text;
  std::vector<std::int64_t> source, target;
};

std::vector<std::int64_t> parse_ids(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; in >> id;) ids.push_back(id);
  return ids;
}

std::vector<GoldenLine> golden_lines() {
  std::ifstream file(kData / "golden.tsv");
  std::vector<GoldenLine> lines;
  for (std::string row; std::getline(file, row);) {
    std::istringstream fields(row);
    GoldenLine line;
    std::string source, target;
    std::getline(fields, line.search, '\t');
    std::getline(fields, line.language, '\t');
    std::getline(fields, line.text, '\t');
    std::getline(fields, source, '\t');
    std::getline(fields, target, '\t');
    line.source = parse_ids(source);
    line.target = parse_ids(target);
    lines.push_back(line);
  }
  return lines;
}

class M2M100Test : public testing::Test {
 protected:
  M2M100Test() { export_checkpoint(kData / "checkpoint", folder_.path() / "package"); }

  Translator load() const { return Translator::load(folder_.path() / "package"); }

  static TranslateOptions options_for(const Translator& translator, const GoldenLine& line) {
    TranslateOptions options = translator.default_options();
    options.split_sentences = false;
    options.length_guard = false;
    options.target_language = line.language;
    options.generation.num_beams = line.search == "beam4" ? 4 : 1;
    options.generation.no_repeat_ngram_size = 2;
    return options;
  }

  test::TemporaryFolder folder_;
};

TEST_F(M2M100Test, SourceIdsAreThoseOfTransformers) {
  const auto tokenizer = text::open_tokenizer(kData / "checkpoint", "m2m_100");
  for (const GoldenLine& line : golden_lines())
    EXPECT_EQ(tokenizer->encode(line.text, line.language), line.source) << line.text;
}

TEST_F(M2M100Test, GeneratedTokensAreThoseOfTransformers) {
  const Translator translator = load();
  const std::vector<GoldenLine> lines = golden_lines();
  ASSERT_EQ(lines.size(), 24u);
  for (const GoldenLine& line : lines) {
    const auto translations =
        translator.translate(std::vector<std::string>{line.text}, options_for(translator, line));
    EXPECT_EQ(translations.front().tokens, line.target)
        << line.search << ", " << line.language << ": " << line.text;
  }
}

TEST_F(M2M100Test, ABatchGivesTheTokensOfOneByOne) {
  const Translator translator = load();
  std::vector<std::string> texts;
  std::vector<GoldenLine> expected;
  for (const GoldenLine& line : golden_lines())
    if (line.search == "beam4" && line.language == "fr") {
      texts.push_back(line.text);
      expected.push_back(line);
    }
  const auto translations = translator.translate(texts, options_for(translator, expected.front()));
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(translations[i].tokens, expected[i].target) << texts[i];
}

TEST_F(M2M100Test, ALanguageOfTheFilesThatTheModelLacksIsNamedWithItsFile) {
  const std::filesystem::path copy = folder_ / "copy";
  std::filesystem::copy(kData / "checkpoint", copy);
  folder_.write("copy/tokenizer_config.json", R"({"src_lang": "tlh"})");
  try {
    text::open_tokenizer(copy, "m2m_100");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_NE(std::string(error.what()).find("tokenizer_config.json"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'tlh'"), std::string::npos) << error.what();
  }
}

TEST_F(M2M100Test, TextComesBackFromItsIds) {
  const auto tokenizer = text::open_tokenizer(kData / "checkpoint", "m2m_100");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("I have seen it.", "zh")), "I have seen it.");
  EXPECT_EQ(tokenizer->target_pieces(std::vector<std::int64_t>{279, 2}),
            (std::vector<std::string>{"__zh__", "</s>"}));
}

TEST_F(M2M100Test, AnUnknownLanguageIsRefusedByName) {
  const Translator translator = load();
  TranslateOptions options = translator.default_options();
  options.target_language = "xx";
  try {
    translator.translate(std::vector<std::string>{"Hello."}, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("'xx'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sampan
