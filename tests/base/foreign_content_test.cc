#include "base/foreign_content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "sampan/error.h"

namespace sampan::base {
namespace {

std::string problem_of(std::string_view content) {
  try {
    refuse_foreign_content(std::as_bytes(std::span(content)), "folder/model.bin");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    return error.what();
  }
  return "accepted";
}

TEST(RefuseForeignContent, NamesWhatFailedDownloadsLeave) {
  using ::testing::StartsWith;
  EXPECT_THAT(problem_of(""), StartsWith("folder/model.bin: is empty"));
  EXPECT_THAT(problem_of(" \r\n"), StartsWith("folder/model.bin: is empty"));
  EXPECT_THAT(problem_of("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
              StartsWith("folder/model.bin: is a Git LFS pointer"));
  EXPECT_THAT(problem_of("<<<<<<< HEAD\nversion https://git-lfs.github.com/spec/v1\n"),
              StartsWith("folder/model.bin: is a Git LFS pointer with unresolved merge conflicts"));
  for (const char* page : {"<!DOCTYPE html>", "\n <HTML>", "\xef\xbb\xbf<?xml version='1.0'?>"})
    EXPECT_THAT(problem_of(page), StartsWith("folder/model.bin: is a web page")) << page;
}

TEST(RefuseForeignContent, LetsModelsAndSettingsPass) {
  for (const std::string_view content :
       {std::string_view("{}"), std::string_view("\x0a\x0e\x0a\x05<unk>"),
        std::string_view("\x80\x02.", 3), std::string_view("PK\x03\x04"), std::string_view("<a>")})
    EXPECT_EQ(problem_of(content), "accepted");
}

}  // namespace
}  // namespace sampan::base
