#include "text/spm_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "base/mapped_file.h"
#include "sampan/error.h"
#include "support/folders.h"
#include "text/piece_decoder.h"
#include "text/spm_model.h"

namespace sampan::text {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kBundled =
    std::filesystem::path(kSourceFolder) / "models/tatoeba-en-zh";

// Parts of a protocol buffer message.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field * 8) + varint(value);
}
std::string text(unsigned field, std::string_view value) {
  return varint(field * 8 + 2) + varint(value.size()) + std::string(value);
}
std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  return bytes;
}
std::string score(float value) {
  return varint(2 * 8 + 5) + little_endian(std::bit_cast<std::uint32_t>(value));
}
std::string piece(std::string_view content, float value = -1, unsigned type = 1) {
  return text(1, text(1, content) + score(value) + number(3, type));
}

const std::string kUnknown = piece("<unk>", 0, 2);

// A double array without rules but that of one byte: `word` is the unit that the byte leads to.
std::string charsmap(std::uint32_t unit, std::string_view replacements) {
  std::string trie = little_endian(0);
  for (std::uint32_t i = 1; i < 256; ++i) trie += little_endian(i == 'a' ? unit : i ^ 0xFFU);
  return little_endian(static_cast<std::uint32_t>(trie.size())) + trie + std::string(replacements);
}
std::string with_charsmap(std::string_view map) {
  return kUnknown + piece("a") + text(3, text(2, map));
}

std::string problem_of(std::string_view bytes) {
  try {
    parse_spm(bytes, "folder/source.spm");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("folder/source.spm: "));
    EXPECT_TRUE(error.code() == ErrorCode::kInvalidData || error.code() == ErrorCode::kUnsupported);
    return error.what();
  }
  return "accepted";
}

TEST(SpmFile, ReadsPiecesScoresAndSettings) {
  const std::string bytes = base::read_file(kBundled / "source.spm", kMaxSpmBytes);
  const SpmFile file = parse_spm(bytes, "source.spm");
  ASSERT_EQ(file.pieces.size(), 4000U);
  EXPECT_EQ(file.pieces[0].text, "</s>");
  EXPECT_EQ(file.pieces[0].type, SpmPiece::Type::kControl);
  EXPECT_EQ(file.pieces[1].type, SpmPiece::Type::kUnknown);
  EXPECT_EQ(file.pieces[3].text, "▁I");
  EXPECT_FLOAT_EQ(file.pieces[3].score, -3.5965495F);
  EXPECT_EQ(file.algorithm, SpmFile::Algorithm::kUnigram);
  EXPECT_EQ(file.normalizer.name, "nmt_nfkc");
  EXPECT_EQ(file.normalizer.charsmap.size(), 237561U);
  EXPECT_TRUE(file.normalizer.add_dummy_prefix);
  EXPECT_TRUE(file.normalizer.remove_extra_whitespaces);
  EXPECT_FALSE(file.byte_fallback);
}

TEST(SpmFile, RefusesEveryTruncation) {
  const std::string whole = kUnknown + piece("a") + text(2, number(3, 1)) +
                            text(3, text(2, charsmap(0, std::string_view("\0", 1))));
  ASSERT_EQ(problem_of(whole), "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // Cut between two fields it may be a smaller whole model.
    const std::string problem = problem_of(whole.substr(0, size));
    if (problem == "accepted") {
      EXPECT_THAT(
          (std::vector<std::size_t>{kUnknown.size(), (kUnknown + piece("a")).size(),
                                    (kUnknown + piece("a") + text(2, number(3, 1))).size()}),
          ::testing::Contains(size));
    }
  }
}

TEST(SpmFile, RefusesWhatIsNoModel) {
  EXPECT_THAT(problem_of(""), HasSubstr("is empty"));
  EXPECT_THAT(problem_of("version https://git-lfs.github.com/spec/v1\noid sha256:1"),
              HasSubstr("Git LFS pointer"));
  EXPECT_THAT(problem_of("<html>"), HasSubstr("web page"));
  EXPECT_THAT(problem_of("Not found"), HasSubstr("not a SentencePiece model"));
  EXPECT_THAT(problem_of(std::string(64, '\xff')), HasSubstr("not a SentencePiece model"));
  EXPECT_THAT(problem_of(text(2, "")), HasSubstr("0 unknown pieces"));
  EXPECT_THAT(problem_of(varint(8 + 2) + varint(~std::uint64_t{0})), HasSubstr("truncated"));
  EXPECT_THAT(problem_of(number(1, 5)), HasSubstr("a piece is not text"));
  EXPECT_THAT(problem_of(varint(8 + 3)), HasSubstr("wire type 3"));
}

TEST(SpmFile, RefusesPiecesThatSentencePieceWouldTrust) {
  EXPECT_THAT(problem_of(kUnknown + piece("")), HasSubstr("piece 1 is empty"));
  EXPECT_THAT(problem_of(kUnknown + piece(std::string("a\0b", 3))), HasSubstr("not text in UTF-8"));
  EXPECT_THAT(problem_of(kUnknown + piece("\xE4\xBD")), HasSubstr("not text in UTF-8"));
  EXPECT_THAT(problem_of(kUnknown + piece(std::string(1025, 'a'))), HasSubstr("1025 bytes long"));
  EXPECT_THAT(problem_of(kUnknown + piece("a", std::numeric_limits<float>::quiet_NaN())),
              HasSubstr("finite"));
  EXPECT_THAT(problem_of(kUnknown + piece("a", -std::numeric_limits<float>::infinity())),
              HasSubstr("finite"));
  EXPECT_THAT(problem_of(kUnknown + piece("a", 0, 9)), HasSubstr("unknown type 9"));
  EXPECT_THAT(problem_of(kUnknown + kUnknown), HasSubstr("2 unknown pieces"));
}

TEST(SpmFile, RefusesACharacterMapThatLeavesItsTable) {
  const std::string_view nothing("\0", 1);
  const std::uint32_t ends_key = 1U << 8U;
  EXPECT_EQ(problem_of(with_charsmap(charsmap('a' | ends_key | ('a' << 10U), nothing))),
            "accepted");
  EXPECT_THAT(problem_of(with_charsmap(charsmap('a' | 0x40000U << 10U, nothing))),
              HasSubstr("leaves its table"));
  EXPECT_THAT(problem_of(with_charsmap(charsmap('a' | 1U << 9U | 1U << 10U, nothing))),
              HasSubstr("leaves its table"));
  EXPECT_THAT(problem_of(with_charsmap(charsmap('a' | ends_key, nothing))),
              HasSubstr("replacement lies outside"));
  EXPECT_THAT(problem_of(with_charsmap(charsmap(0, ""))), HasSubstr("replacements without end"));
  EXPECT_THAT(problem_of(with_charsmap(charsmap(0, "x"))), HasSubstr("replacements without end"));
  EXPECT_THAT(problem_of(with_charsmap(charsmap(0, std::string(2000, 'x') + '\0'))),
              HasSubstr("more than 1024 bytes"));
  EXPECT_THAT(problem_of(with_charsmap("abc")), HasSubstr("is truncated"));
  EXPECT_THAT(problem_of(with_charsmap(little_endian(0) + '\0')), HasSubstr("trie of 0 bytes"));
  EXPECT_THAT(problem_of(with_charsmap(little_endian(400) + "abcd")),
              HasSubstr("trie of 400 bytes"));
}

TEST(SpmFile, RefusesKindsOfModelsThatAreNotSupported) {
  EXPECT_THAT(problem_of(kUnknown + piece("a") + text(2, number(3, 3))),
              HasSubstr("word or character"));
  EXPECT_THAT(problem_of(kUnknown + piece("a") + text(2, number(3, 9))), HasSubstr("model_type 9"));
  const std::string map = charsmap(0, std::string_view("\0", 1));
  EXPECT_THAT(problem_of(kUnknown + piece("a") + text(5, text(2, map))),
              HasSubstr("denormalizer_spec"));
}

TEST(SpmModel, WhatSentencePieceRefusesIsAnError) {
  for (const std::string& bytes :
       {kUnknown, kUnknown + piece("a") + piece("a"),
        kUnknown + piece("a") + text(2, number(35, 1)), kUnknown + piece("<0x41>", 0, 6),
        kUnknown + piece("a") + text(4, text(1, text(1, "a") + text(2, "b b")))}) {
    ASSERT_EQ(problem_of(bytes), "accepted");
    try {
      const SpmModel model(bytes, "folder/source.spm");
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
      EXPECT_THAT(error.what(), HasSubstr("folder/source.spm: SentencePiece refuses it"));
    }
  }
}

TEST(SpmModel, RefusesATextBeyondItsLimit) {
  const SpmModel model(kUnknown + piece("a"), "source.spm");
  EXPECT_THROW(model.encode(std::string(kMaxTextBytes + 1, 'a')), Error);
  EXPECT_THAT(model.encode("aa"), ::testing::ElementsAre("▁", "a", "a"));
}

TEST(SpmModel, WritesNothingToTheErrorStream) {
  ::testing::internal::CaptureStderr();
  const SpmModel model(kUnknown + piece("a"), "source.spm");  // a remark: no normalisation
  model.encode("b");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(PieceDecoder, PutsPiecesTogether) {
  const std::string bytes = kUnknown + piece("<s>", 0, 3) + piece("<0xE4>", 0, 6) +
                            piece("<0xBD>", 0, 6) + piece("<0xA0>", 0, 6) + piece("a");
  const PieceDecoder decoder(parse_spm(bytes, "target.spm"));
  const auto decode = [&](std::vector<std::string_view> pieces) { return decoder.decode(pieces); };
  EXPECT_EQ(decode({}), "");
  EXPECT_EQ(decode({"▁Hello", "▁wor", "ld"}), "Hello world");
  EXPECT_EQ(decode({"<s>", "▁a", "<s>", "b"}), "ab");
  EXPECT_EQ(decode({"a", "<unk>", "b"}), "a \xE2\x81\x87 b");
  EXPECT_EQ(decode({"<0xE4>", "<0xBD>", "<0xA0>", "a"}), "你a");
  EXPECT_EQ(decode({"<0xE4>", "<0xBD>", "a", "<0xA0>"}), "\uFFFD\uFFFDa\uFFFD");
  EXPECT_EQ(decode({"\u3000", "▁a\u00A0", "▁"}), "a");
}

TEST(CleanUpSpaces, FollowsTransformers) {
  EXPECT_EQ(clean_up_spaces("Hello , do n't go . It 's Tom ' s ! I 've we 're I 'm ?"),
            "Hello, don't go. It's Tom's! I've we're I'm?");
}

}  // namespace
}  // namespace sampan::text
