#include "base/contained_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::base {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

TEST(ContainedPath, AcceptsFilesAndFoldersBelow) {
  const TemporaryFolder folder;
  folder.write("onnx/model.onnx", "");
  fs::create_symlink("onnx/model.onnx", folder.path() / "link");
  for (const char* name : {"onnx/model.onnx", "link", "not/there/yet", "..hidden"})
    EXPECT_EQ(contained_path(folder.path(), name, "index.json"), folder.path() / name);
}

TEST(ContainedPath, RefusesNamesThatLeaveAndNamesTheirFile) {
  const TemporaryFolder folder;
  for (const std::string& name :
       {std::string("/etc/passwd"), std::string("../x"), std::string("a/../../x"), std::string(),
        std::string("a\0b", 3)}) {
    const Error error = caught_error([&] { contained_path(folder.path(), name, "index.json"); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << name;
    EXPECT_THAT(error.what(), HasSubstr("index.json: names '"));
  }
}

TEST(ContainedPath, RefusesLinksThatLeave) {
  const TemporaryFolder folder;
  const auto outside = folder.write("outside/secret", "");
  fs::create_directory(folder.path() / "inside");
  fs::create_symlink(outside, folder.path() / "inside" / "file");
  fs::create_symlink("..", folder.path() / "inside" / "up");
  for (const char* name : {"file", "up/outside/secret"}) {
    const Error error =
        caught_error([&] { contained_path(folder.path() / "inside", name, "index.json"); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << name;
    EXPECT_THAT(error.what(), HasSubstr("symbolic link out of its folder"));
  }
}

TEST(ContainedPath, IsNotMisledByAFolderWithTheSameBeginning) {
  const TemporaryFolder folder;
  folder.write("model-2/file", "");
  fs::create_directory(folder.path() / "model");
  fs::create_symlink("../model-2/file", folder.path() / "model" / "file");
  EXPECT_EQ(caught_error([&] { contained_path(folder.path() / "model", "file", ""); }).code(),
            ErrorCode::kInvalidData);
}

TEST(ContainedPath, RefusesALoopOfLinks) {
  const TemporaryFolder folder;
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_EQ(caught_error([&] { contained_path(folder.path(), "loop", ""); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(ContainedPath, AcceptsTheDownloadCacheOfHuggingFace) {
  const TemporaryFolder folder;
  folder.write("models--a--b/blobs/0123", "");
  folder.write("models--a--b/refs/main", "");
  const fs::path snapshot = folder.path() / "models--a--b/snapshots/4567";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/0123", snapshot / "config.json");
  fs::create_symlink("../../refs/main", snapshot / "other");
  EXPECT_EQ(contained_path(snapshot, "config.json", ""), snapshot / "config.json");
  EXPECT_EQ(caught_error([&] { contained_path(snapshot, "other", ""); }).code(),
            ErrorCode::kInvalidData);
}

TEST(ContainedPath, TakesNoOtherFolderOfSnapshotsForThatCache) {
  const TemporaryFolder folder;
  folder.write("backups/blobs/0123", "");
  const fs::path snapshot = folder.path() / "backups/snapshots/4567";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/0123", snapshot / "config.json");
  EXPECT_EQ(caught_error([&] { contained_path(snapshot, "config.json", ""); }).code(),
            ErrorCode::kInvalidData);
}

}  // namespace
}  // namespace sampan::base
