#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kData = fs::path(kSourceFolder) / "tests/data/checkpoint";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A safetensors file with one F32 tensor of one element.
std::string one_tensor(const std::string& name, const std::string& element) {
  const std::string header =
      "{\"" + name + R"(": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + element;
}

/// A checkpoint folder to fill with weights; its name is not ASCII.
class OpenCheckpoint : public testing::Test {
 protected:
  OpenCheckpoint() { write("config.json", R"({"model_type": "marian"})"); }

  void write(const std::string& name, const std::string& content) const {
    temporary_.write(fs::path(u8"模型") / name, content);
  }

  Error error() const {
    return test::caught_error([&] { open_checkpoint(folder_); });
  }

  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path() / fs::path(u8"模型");
};

TEST_F(OpenCheckpoint, SafetensorsGoBeforeTorch) {
  write("pytorch_model.bin", content_of(kData / "stream.bin"));
  EXPECT_NE(open_checkpoint(folder_).weights.find("base"), nullptr);
  write("model.safetensors", one_tensor("only", "abcd"));
  const Checkpoint checkpoint = open_checkpoint(folder_);
  EXPECT_EQ(checkpoint.weights.tensors().size(), 1u);
  EXPECT_THAT(checkpoint.files, ElementsAre("config.json", "model.safetensors"));
}

TEST_F(OpenCheckpoint, ShardsAreReadAsTheirIndexSays) {
  write("one.safetensors", one_tensor("a", "aaaa"));
  write("two.safetensors", one_tensor("b", "bbbb"));
  write("model.safetensors.index.json",
        R"({"metadata": {"total_size": 8},
            "weight_map": {"b": "two.safetensors", "a": "one.safetensors"}})");
  const Checkpoint checkpoint = open_checkpoint(folder_);
  EXPECT_EQ(checkpoint.weights.tensors().size(), 2u);
  EXPECT_EQ(checkpoint.weights.find("b")->data[0], std::byte{'b'});
  EXPECT_THAT(checkpoint.files, ElementsAre("config.json", "model.safetensors.index.json",
                                            "one.safetensors", "two.safetensors"));
}

TEST_F(OpenCheckpoint, ShardsOfTorchMayBeOfEitherContainer) {
  write("one.bin", content_of(kData / "stream.bin"));
  write("two.bin", content_of(kData / "zip.bin"));
  write("pytorch_model.bin.index.json",
        R"({"weight_map": {"f32": "one.bin", "f16": "two.bin", "base": "two.bin"}})");
  const Checkpoint checkpoint = open_checkpoint(folder_);
  // What the index does not name is left out.
  EXPECT_EQ(checkpoint.weights.tensors().size(), 3u);
  EXPECT_EQ(checkpoint.weights.find("f16")->dtype, tensor::DType::kF16);
}

TEST_F(OpenCheckpoint, AnIndexCannotLeadOutOfTheFolder) {
  temporary_.write("outside.safetensors", one_tensor("a", "aaaa"));
  const std::string absolute = (temporary_.path() / "outside.safetensors").string();
  for (const std::string& name :
       {std::string("../outside.safetensors"), absolute, std::string("sub/x.safetensors"),
        std::string("..\\\\x"), std::string(".."), std::string("")}) {
    write("model.safetensors.index.json", R"({"weight_map": {"a": ")" + name + "\"}}");
    const Error refused = error();
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidData) << name;
    EXPECT_THAT(refused.what(), AllOf(HasSubstr("model.safetensors.index.json"),
                                      HasSubstr("leads out of the folder")));
  }
}

TEST_F(OpenCheckpoint, DamagedIndexesGiveOneClearLine) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"metadata": {}})", "no weight_map"},
      {R"({"weight_map": {}})", "no weight_map"},
      {R"({"weight_map": {"a": 1}})", "gives 1 as the file of tensor 'a'"},
      {R"({"weight_map": {"a": "x", "a": "y"}})", "appears twice"},
      {R"({"weight_map": {"a": "gone.safetensors"}})", "'gone.safetensors', which is missing"},
      {R"({"weight_map": {"c": "one.safetensors"}})", "lacks the tensor 'c'"},
  };
  write("one.safetensors", one_tensor("a", "aaaa"));
  for (const auto& [index, message] : cases) {
    write("model.safetensors.index.json", index);
    EXPECT_THAT(error().what(), HasSubstr(message));
  }
}

TEST_F(OpenCheckpoint, LinksStayInTheFolder) {
  write("real.safetensors", one_tensor("a", "aaaa"));
  fs::create_symlink("real.safetensors", folder_ / "model.safetensors");
  EXPECT_NE(open_checkpoint(folder_).weights.find("a"), nullptr);

  fs::remove(folder_ / "model.safetensors");
  temporary_.write("outside.safetensors", one_tensor("a", "aaaa"));
  fs::create_symlink("../outside.safetensors", folder_ / "model.safetensors");
  EXPECT_EQ(error().code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error().what(), HasSubstr("model.safetensors: is a symbolic link out of its folder"));

  fs::remove(folder_ / "model.safetensors");
  fs::create_symlink("model.safetensors", folder_ / "model.safetensors");
  EXPECT_THAT(error().what(), HasSubstr("model.safetensors: cannot follow the path"));
}

TEST_F(OpenCheckpoint, AFolderThatIsItselfALinkIsOpened) {
  write("model.safetensors", one_tensor("a", "aaaa"));
  fs::create_directory_symlink(folder_, temporary_.path() / "link");
  EXPECT_NE(open_checkpoint(temporary_.path() / "link").weights.find("a"), nullptr);
}

TEST_F(OpenCheckpoint, SnapshotsOfAHubCacheLinkToItsBlobsAndNowhereElse) {
  const fs::path repository = "models--some--model";
  const fs::path snapshot = temporary_.path() / repository / "snapshots/0123";
  temporary_.write(repository / "blobs/c0", R"({"model_type": "marian"})");
  temporary_.write(repository / "blobs/a0", one_tensor("a", "aaaa"));
  temporary_.write(repository / "blobs/i0", R"({"weight_map": {"a": "shard.safetensors"}})");
  temporary_.write("models--other/blobs/a0", one_tensor("a", "aaaa"));
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/c0", snapshot / "config.json");
  fs::create_symlink("../../blobs/i0", snapshot / "model.safetensors.index.json");
  fs::create_symlink("../../blobs/a0", snapshot / "shard.safetensors");
  EXPECT_NE(open_checkpoint(snapshot).weights.find("a"), nullptr);

  fs::remove(snapshot / "shard.safetensors");
  fs::create_symlink("../../../models--other/blobs/a0", snapshot / "shard.safetensors");
  EXPECT_THAT(test::caught_error([&] { open_checkpoint(snapshot); }).what(),
              HasSubstr("shard.safetensors: is a symbolic link out of its folder"));
}

TEST_F(OpenCheckpoint, WhatIsMissingOrNoFileIsNamed) {
  EXPECT_EQ(error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(error().what(), HasSubstr("neither model.safetensors nor pytorch_model.bin"));
  write("tf_model.h5", "x");
  EXPECT_THAT(error().what(), HasSubstr("tf_model.h5 is not supported"));
  fs::create_directory(folder_ / "model.safetensors");
  EXPECT_THAT(error().what(), HasSubstr("model.safetensors: is not a regular file"));
  fs::remove(folder_ / "config.json");
  EXPECT_EQ(error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(error().what(), HasSubstr("config.json"));

  const Error missing = test::caught_error([&] { open_checkpoint(temporary_.path() / "nowhere"); });
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  const Error file = test::caught_error([&] { open_checkpoint(temporary_.write("file", "x")); });
  EXPECT_THAT(file.what(), HasSubstr("is not a folder"));
}

TEST_F(OpenCheckpoint, WhatFailedDownloadsLeaveIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "is empty"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "Git LFS pointer"},
      {"<<<<<<< HEAD\nversion https://git-lfs.github.com/spec/v1\n", "merge conflicts"},
      {"\n <!DOCTYPE html><html></html>", "web page"}};
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    for (const auto& [content, message] : cases) {
      write(name, content);
      EXPECT_EQ(error().code(), ErrorCode::kInvalidData);
      EXPECT_THAT(error().what(), AllOf(HasSubstr(name), HasSubstr(message)));
    }
    fs::remove(folder_ / name);
  }
}

}  // namespace
}  // namespace sampan::checkpoint
