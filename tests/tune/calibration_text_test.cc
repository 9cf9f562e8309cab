#include "tune/calibration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::tune {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CalibrationTextTest : public ::testing::Test {
 protected:
  decode::SourceBatch read(CalibrationTextOptions options) const {
    return read_calibration_text(options, *tokenizer_);
  }

  const std::unique_ptr<const text::Tokenizer> tokenizer_ =
      text::open_tokenizer(fs::path(kSourceFolder) / "models/tatoeba-en-zh", "marian");
  const test::TemporaryFolder folder_;
  const fs::path arrays_ = fs::path(kSourceFolder) / "tests/data/tensor/plain.npz";
};

TEST_F(CalibrationTextTest, ReadsALineASentence) {
  const fs::path file = folder_.write("a.txt", "I am happy.\r\n \t\n\nWhere is it?");
  EXPECT_THAT(read({.file = file}), ElementsAre(tokenizer_->encode("I am happy.", ""),
                                                tokenizer_->encode("Where is it?", "")));
}

TEST_F(CalibrationTextTest, TakesAsManyAsAskedForAndLeavesLongOnesOut) {
  const fs::path file =
      folder_.write("a.txt", "This sentence is much too long for it.\nYes.\nNo.\nYes.\n");
  const auto sentences = read({.file = file, .most_sentences = 2, .max_positions = 4});
  EXPECT_THAT(sentences,
              ElementsAre(tokenizer_->encode("Yes.", ""), tokenizer_->encode("No.", "")));
}

TEST_F(CalibrationTextTest, ReadsArraysWithoutTheirPadding) {
  EXPECT_THAT(read({.file = arrays_}), ElementsAre(ElementsAre(3, 5, 0), ElementsAre(7, 0)));
}

TEST_F(CalibrationTextTest, RefusesFilesWithoutSentences) {
  for (const char* content : {"", "\n \n"}) {
    const Error error =
        test::caught_error([&] { read({.file = folder_.write("a.txt", content)}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_THAT(error.what(), HasSubstr("has no sentence"));
  }
  EXPECT_EQ(test::caught_error([&] { read({.file = folder_ / "none.txt"}); }).code(),
            ErrorCode::kNotFound);
  EXPECT_EQ(test::caught_error([&] { read({.file = folder_.write("a.npz", "PK")}); }).code(),
            ErrorCode::kInvalidData);
}

}  // namespace
}  // namespace sampan::tune
