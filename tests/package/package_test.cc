#include "package/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "package/package_writer.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::package {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kConfig =
    R"({"model_type": "marian", "max_position_embeddings": 512, "pad_token_id": 65000})";
constexpr const char* kRuntime = "1.30.0";

Manifest manifest() {
  Manifest manifest;
  manifest.architecture = "marian";
  manifest.least_runtime_version = "1.12.0";
  manifest.graphs = {{GraphRole::kEncoder, "onnx/encoder_model.onnx"},
                     {GraphRole::kDecoderMerged, "onnx/decoder_model_merged.onnx"}};
  return manifest;
}

void write_package(const fs::path& target, const Manifest& content = manifest(),
                   bool force = false) {
  PackageWriter writer(target, force);
  writer.add("config.json", kConfig);
  auto decoder = writer.create("onnx/decoder_model_merged.onnx");
  writer.add("onnx/encoder_model.onnx", "encoder");
  decoder.write(std::as_bytes(std::span("decoder", 7)));
  decoder.close();
  writer.finish(content);
}

Error refused(const fs::path& folder, const std::string& runtime = kRuntime) {
  return caught_error([&] { open_package(folder, runtime); });
}

class OpenPackage : public ::testing::Test {
 protected:
  void SetUp() override { write_package(path_); }
  const TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "\xe5\x8c\x85";
};

TEST_F(OpenPackage, ReadsWhatTheWriterWrote) {
  const Package package = open_package(path_, kRuntime);
  EXPECT_TRUE(package.has_manifest);
  EXPECT_EQ(package.model_type, "marian");
  EXPECT_EQ(package.max_positions, 512);
  EXPECT_EQ(package.pad_token_id, 65000);
  EXPECT_EQ(package.config_json, kConfig);
  EXPECT_EQ(package.generation_config_json, "{}");
  ASSERT_EQ(package.graphs.size(), 2u);
  EXPECT_EQ(package.graphs.at(GraphRole::kEncoder), path_ / "onnx/encoder_model.onnx");
  EXPECT_NO_THROW(verify_files(path_));
}

TEST_F(OpenPackage, GivesAbsolutePathsForARelativeFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Package package = open_package(path_.filename(), kRuntime);
  fs::current_path(before);
  EXPECT_TRUE(package.graphs.at(GraphRole::kEncoder).is_absolute());
}

TEST_F(OpenPackage, RefusesAFileOfAnotherSize) {
  fs::resize_file(path_ / "onnx/encoder_model.onnx", 3);
  const Error error = refused(path_);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("encoder_model.onnx: 3 bytes"));
  EXPECT_THAT(error.what(), HasSubstr("says 7"));
}

TEST_F(OpenPackage, RefusesAMissingFile) {
  fs::remove(path_ / "onnx/encoder_model.onnx");
  const Error error = refused(path_);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("encoder_model.onnx"));
}

TEST_F(OpenPackage, RefusesARuntimeThatIsTooOld) {
  EXPECT_NO_THROW(open_package(path_, "1.12.0"));
  EXPECT_NO_THROW(open_package(path_, "2.0"));
  for (const char* version : {"1.11.9", "1.9.0", "0.99"}) {
    const Error error = refused(path_, version);
    EXPECT_EQ(error.code(), ErrorCode::kIncompatible) << version;
    EXPECT_THAT(error.what(), HasSubstr("needs ONNX Runtime 1.12.0 or later"));
  }
}

TEST_F(OpenPackage, RefusesAManifestThatNamesFilesOutside) {
  folder_.write("secret", "x");
  Manifest hostile = manifest();
  write_package(folder_.path() / "hostile", hostile);
  const fs::path file = folder_.path() / "hostile" / kManifestName;
  std::string text = format_manifest(hostile);
  for (const char* path : {"../secret", "/etc/passwd"}) {
    hostile.files = {{path, 1, std::string(64, 'a')}};
    hostile.graphs = {{GraphRole::kEncoder, path}};
    folder_.write("hostile/sampan.json", format_manifest(hostile));
    const Error error = refused(folder_.path() / "hostile");
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
    EXPECT_THAT(error.what(), HasSubstr(path));
  }
}

TEST_F(OpenPackage, RefusesLinksOutOfTheFolder) {
  const fs::path outside = folder_.write("outside", "encoder");
  for (const char* name : {"onnx/encoder_model.onnx", "config.json", "sampan.json"}) {
    fs::rename(path_ / name, path_ / "aside");
    fs::create_symlink(outside, path_ / name);
    const Error error = refused(path_);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << name;
    EXPECT_THAT(error.what(), HasSubstr("symbolic link out of its folder"));
    fs::remove(path_ / name);
    fs::rename(path_ / "aside", path_ / name);
  }
}

TEST_F(OpenPackage, NamesTheFieldOfConfigThatIsDamaged) {
  fs::remove(path_ / kManifestName);
  for (const auto& [config, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "config.json: is not a JSON object"},
           {"[]", "config.json: is not a JSON object"},
           {"{}", "'model_type' is not a string"},
           {R"({"model_type": "marian", "pad_token_id": -1})", "'pad_token_id' is not a whole"},
           {R"({"model_type": "marian", "max_position_embeddings": 1e30})",
            "'max_position_embeddings' is not a whole"}}) {
    folder_.write(path_ / "config.json", config);
    const Error error = refused(path_);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << config;
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST_F(OpenPackage, ContentThatDiffersIsFoundByVerification) {
  folder_.write(path_ / "onnx/encoder_model.onnx", "ENCODER");
  EXPECT_NO_THROW(open_package(path_, kRuntime));
  const Error error = caught_error([&] { verify_files(path_); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("onnx/encoder_model.onnx"));
}

TEST(OpenPackageWithoutManifest, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const Error none = refused(folder.path() / "none");
  EXPECT_EQ(none.code(), ErrorCode::kNotFound);
  EXPECT_THAT(none.what(), HasSubstr("sampan export"));
  EXPECT_EQ(refused(folder.write("file", "")).code(), ErrorCode::kInvalidArgument);

  const Error empty = refused(folder.path());
  EXPECT_EQ(empty.code(), ErrorCode::kNotFound);
  EXPECT_THAT(empty.what(), HasSubstr("encoder_model.onnx"));
  folder.write("encoder_model.onnx", "");
  folder.write("decoder_model.onnx", "");
  EXPECT_EQ(refused(folder.path()).code(), ErrorCode::kNotFound);
  folder.write("decoder_with_past_model.onnx", "");
  EXPECT_THAT(refused(folder.path()).what(), HasSubstr("config.json"));
  folder.write("config.json", kConfig);
  EXPECT_FALSE(open_package(folder.path(), kRuntime).has_manifest);
}

TEST(OpenPackageWithoutManifest, PrefersExactNamesAndTheFolderItself) {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  folder.write("onnx/encoder_model.onnx", "");
  folder.write("onnx/encoder_model_quantized.onnx", "");
  folder.write("onnx/decoder_model_merged.onnx", "");
  folder.write("decoder_model_merged.onnx", "");
  const Package package = open_package(folder.path(), kRuntime);
  EXPECT_EQ(package.graphs.at(GraphRole::kEncoder), folder.path() / "onnx/encoder_model.onnx");
  EXPECT_EQ(package.graphs.at(GraphRole::kDecoderMerged),
            folder.path() / "decoder_model_merged.onnx");
  EXPECT_FALSE(package.graphs.contains(GraphRole::kDecoder));
}

TEST(OpenPackageWithoutManifest, TakesNamesThatFitAndRefusesTwoOfThem) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "marian"})");
  folder.write("generation_config.json", R"({"pad_token_id": 3})");
  folder.write("onnx/encoder_model_quantized.onnx", "");
  folder.write("onnx/decoder_model_quantized.onnx", "");
  folder.write("onnx/decoder_with_past_model_quantized.onnx", "");
  folder.write("onnx/decoder_model_merged_quantized.onnx", "");
  const Package package = open_package(folder.path(), kRuntime);
  EXPECT_EQ(package.graphs.size(), 4u);
  EXPECT_EQ(package.graphs.at(GraphRole::kDecoderMerged),
            folder.path() / "onnx/decoder_model_merged_quantized.onnx");
  EXPECT_EQ(package.pad_token_id, 3);
  EXPECT_EQ(package.max_positions, 0);

  folder.write("onnx/encoder_model_q4.onnx", "");
  const Error error = refused(folder.path());
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("encoder_model_q4.onnx"));
}

TEST(PackageWriter, WritesTheSameBytesAgain) {
  const TemporaryFolder folder;
  write_package(folder.path() / "a");
  write_package(folder.path() / "b");
  EXPECT_EQ(describe_file(folder.path() / "a", "sampan.json").sha256,
            describe_file(folder.path() / "b", "sampan.json").sha256);
}

TEST(PackageWriter, ReplacesAPackageOnlyByForce) {
  const TemporaryFolder folder;
  write_package(folder.path() / "package");
  EXPECT_EQ(caught_error([&] { write_package(folder.path() / "package"); }).code(),
            ErrorCode::kAlreadyExists);
  write_package(folder.path() / "package", manifest(), /*force=*/true);
  EXPECT_NO_THROW(verify_files(folder.path() / "package"));
}

TEST(PackageWriter, ShowsTheFinalPathInErrors) {
  const TemporaryFolder folder;
  PackageWriter writer(folder.path() / "package", false);
  writer.add("file", "");
  const Error error = caught_error([&] { writer.add("file", ""); });
  EXPECT_THAT(error.what(), HasSubstr((folder.path() / "package/file").string()));
}

}  // namespace
}  // namespace sampan::package
