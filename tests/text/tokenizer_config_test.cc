#include "text/tokenizer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sampan/error.h"
#include "support/folders.h"
#include "text/marian_tokenizer.h"

namespace sampan::text {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TokenizerFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(kBuildFolder) / "tokenizer_config_test" / test->name() / "mödèl";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_.parent_path()); }

  void write(const char* name, std::string_view content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void copy_checkpoint(const char* name) const {
    const fs::path from = fs::path(kSourceFolder) / "tests/data/text" / name;
    fs::copy(from, folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

  template <typename Action>
  static std::string problem_of(ErrorCode code, Action action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
      return error.what();
    }
    return "accepted";
  }
  std::string config_problem(ErrorCode code = ErrorCode::kInvalidData) const {
    return problem_of(code, [&] { read_tokenizer_config(folder_, "MarianTokenizer"); });
  }
  std::string open_problem(ErrorCode code = ErrorCode::kInvalidData) const {
    return problem_of(code, [&] { MarianTokenizer{folder_}; });
  }

  fs::path folder_;
};

TEST_F(TokenizerFiles, HaveTransformersDefaults) {
  const TokenizerConfig config = read_tokenizer_config(folder_, "MarianTokenizer");
  EXPECT_EQ(config.end_token, "</s>");
  EXPECT_THAT(config.special_tokens, ElementsAre("</s>", "<pad>", "<unk>"));
  EXPECT_FALSE(config.separate_vocabs);
  EXPECT_FALSE(config.clean_up_spaces);
  EXPECT_EQ(config.source_language, "");
}

TEST_F(TokenizerFiles, SpecialTokensComeFromTheMapUnlessTheConfigLists) {
  write("tokenizer_config.json",
        R"({"source_lang": "en", "target_lang": null, "eos_token": "<e>"})");
  write("special_tokens_map.json", R"({"eos_token": {"content": "</e>"}, "bos_token": "<b>",
                                       "additional_special_tokens": ["<x>", {"content": "<y>"}]})");
  TokenizerConfig config = read_tokenizer_config(folder_, "MarianTokenizer");
  EXPECT_EQ(config.end_token, "</e>");
  EXPECT_THAT(config.special_tokens, ElementsAre("</e>", "<b>", "<pad>", "<unk>", "<x>", "<y>"));

  write("tokenizer_config.json", R"({"eos_token": "<e>", "added_tokens_decoder":
                                     {"0": {"content": "<z>", "special": true}}})");
  config = read_tokenizer_config(folder_, "MarianTokenizer");
  EXPECT_THAT(config.special_tokens, ElementsAre("<e>", "<pad>", "<unk>", "<z>"));
}

TEST_F(TokenizerFiles, OfWrongTypesAreRefused) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {"", "not a JSON object"},
      {R"({"source_lang": 5})", "'source_lang' is number, not a text"},
      {R"({"separate_vocabs": "yes"})", "'separate_vocabs' is string, not true or false"},
      {R"({"eos_token": {"id": 0}})", "'eos_token' is object, not a token"},
      {R"({"unk_token": ""})", "'unk_token' is string, not a token"},
      {R"({"additional_special_tokens": "<x>"})", "is string, not a list"},
      {R"({"added_tokens_decoder": []})", "is array, not an object"},
      {R"({"added_tokens_decoder": {"x": {"content": "a", "special": true}}})", "has 'x'"},
      {R"({"added_tokens_decoder": {"0": {"special": true}}})", "has '0'"},
  };
  for (const auto& [content, expected] : cases) {
    write("tokenizer_config.json", content);
    EXPECT_THAT(config_problem(), HasSubstr(expected)) << content;
  }
}

TEST_F(TokenizerFiles, ThatChangeThePiecesInUnsupportedWaysAreRefusedByName) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"tokenizer_class": "T5Tokenizer"})", "tokenizer_class 'T5Tokenizer'"},
      {R"({"sp_model_kwargs": {"enable_sampling": true}})", "sp_model_kwargs {\"enable_sampling\""},
      {R"({"added_tokens_decoder": {"9": {"content": "new", "special": false}}})", "'new'"},
  };
  for (const auto& [content, expected] : cases) {
    write("tokenizer_config.json", content);
    EXPECT_THAT(config_problem(ErrorCode::kUnsupported), HasSubstr(expected)) << content;
  }
  write("tokenizer_config.json", R"({"sp_model_kwargs": {}})");
  write("added_tokens.json", R"({"<pad>": 5, "word": 6})");
  EXPECT_THAT(config_problem(ErrorCode::kUnsupported), HasSubstr("'word'"));
}

TEST_F(TokenizerFiles, MayLieInAFolderWithANameOutsideOfAscii) {
  copy_checkpoint("tagged");
  EXPECT_EQ(open_problem(), "accepted");
}

TEST_F(TokenizerFiles, ThatAreMissingAreNamed) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json"}) {
    copy_checkpoint("separate");
    fs::remove(folder_ / name);
    EXPECT_THAT(open_problem(ErrorCode::kNotFound), HasSubstr(name));
  }
}

TEST_F(TokenizerFiles, ThatFailedDownloadsLeaveAreRefused) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json"}) {
    for (const char* content :
         {"", "version https://git-lfs.github.com/spec/v1\n", "<html></html>"}) {
      copy_checkpoint("separate");
      write(name, content);
      EXPECT_THAT(open_problem(), HasSubstr(name)) << content;
    }
  }
}

TEST_F(TokenizerFiles, WithoutSpecialTokensAreRefused) {
  copy_checkpoint("tagged");
  for (const char* content : {R"({"<unk>": 0, "<pad>": 1})", R"({"</s>": 0, "<pad>": 1})",
                              R"({"</s>": 0, "<unk>": 1})"}) {
    write("vocab.json", content);
    EXPECT_THAT(open_problem(), HasSubstr("lacks the special token '<")) << content;
  }
}

TEST_F(TokenizerFiles, ThatDisagreeOnAnIdAreRefused) {
  copy_checkpoint("tagged");
  write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"7": {"content": "</s>", "special": true}}})");
  EXPECT_THAT(open_problem(), HasSubstr("gives '</s>' the id 7, but in the vocabulary it has 0"));
}

TEST_F(TokenizerFiles, ThatLinkOutOfTheFolderAreRefused) {
  copy_checkpoint("tagged");
  fs::remove(folder_ / "vocab.json");
  fs::create_symlink(fs::path(kSourceFolder) / "tests/data/text/tagged/vocab.json",
                     folder_ / "vocab.json");
  EXPECT_THAT(open_problem(), HasSubstr("vocab.json"));
}

// The library prepares source.spm on another thread, so that what it refuses comes up later.
TEST_F(TokenizerFiles, ASourceThatSentencePieceRefusesFailsTheFirstEncode) {
  copy_checkpoint("tagged");
  write("source.spm", std::string("\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02", 16));
  const MarianTokenizer tokenizer(folder_);
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_THAT(problem_of(ErrorCode::kInvalidData, [&] { tokenizer.encode("a", ""); }),
                HasSubstr("SentencePiece refuses it"));
}

}  // namespace
}  // namespace sampan::text
