#include "sampan/exporter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/mapped_file.h"
#include "graph/onnx_reader.h"
#include "package/package.h"
#include "support/folders.h"
#include "text/tokenizer_json.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;

const fs::path kCheckpoint = fs::path(kSourceFolder) / "models/tatoeba-en-zh";

/// A folder of the test's own, removed with it.
class ExporterTest : public testing::Test {
 protected:
  ExporterTest()
      : folder_(fs::path(testing::TempDir()) /
                ("exporter-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ExporterTest() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& file) {
    std::ostringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return out.str();
  }

  static std::map<std::string, std::string> content_of_folder(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), folder).string()] = content(entry.path());
    return files;
  }

  ErrorCode code_of_export(const fs::path& checkpoint, const fs::path& output,
                           const ExportOptions& options = {}) {
    try {
      export_checkpoint(checkpoint, output, options);
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "the export succeeded";
    return ErrorCode::kInternal;
  }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(ExporterTest, TheSameCheckpointGivesTheSameBytes) {
  export_checkpoint(kCheckpoint, folder_ / "a");
  export_checkpoint(kCheckpoint, folder_ / "b");
  EXPECT_EQ(content_of_folder(folder_ / "a"), content_of_folder(folder_ / "b"));
}

TEST_F(ExporterTest, SharedLayoutStoresEachWeightOnce) {
  export_checkpoint(kCheckpoint, folder_ / "package");
  const auto unique_weights = std::uintmax_t{7'023'709} * 4;  // parameters of the checkpoint
  const auto size = fs::file_size(folder_ / "package/model.onnx_data");
  EXPECT_GT(size, unique_weights);
  EXPECT_LT(size, unique_weights + unique_weights / 20) << "positions and alignment";
  EXPECT_LT(fs::file_size(folder_ / "package/decoder_model_merged.onnx"), 100'000u);
}

TEST_F(ExporterTest, SeparateLayoutMakesEveryGraphCompleteInItself) {
  ExportOptions options;
  options.layout = PackageLayout::kSeparate;
  export_checkpoint(kCheckpoint, folder_ / "package", options);
  for (const char* name :
       {"encoder_model", "decoder_model", "decoder_with_past_model", "decoder_model_merged"}) {
    const base::MappedFile file(folder_ / "package/onnx" / (std::string(name) + ".onnx"));
    const graph::Model model = graph::read_model(file.bytes(), file.path());
    for (const graph::Initializer& weight : model.graph.initializers)
      EXPECT_FALSE(std::holds_alternative<graph::ExternalData>(weight.data)) << weight.name;
  }
  EXPECT_FALSE(fs::exists(folder_ / "package/model.onnx_data"));
}

TEST_F(ExporterTest, ThePackageOpensAndNamesItsFourGraphs) {
  for (const PackageLayout layout : {PackageLayout::kShared, PackageLayout::kSeparate}) {
    ExportOptions options;
    options.layout = layout;
    options.force = true;
    export_checkpoint(kCheckpoint, folder_ / "package", options);
    const package::Package package = package::open_package(folder_ / "package", "1.30.0");
    EXPECT_TRUE(package.has_manifest);
    EXPECT_EQ(package.graphs.size(), 4u);
    EXPECT_EQ(package.model_type, "marian");
  }
}

TEST_F(ExporterTest, NeverReplacesWhatIsNotAPackage) {
  fs::create_directories(folder_ / "notes");
  std::ofstream(folder_ / "notes/letter.txt") << "dear";
  ExportOptions force;
  force.force = true;
  EXPECT_EQ(code_of_export(kCheckpoint, folder_ / "notes", force), ErrorCode::kAlreadyExists);
  EXPECT_EQ(content(folder_ / "notes/letter.txt"), "dear");
  EXPECT_EQ(entries(), 1u) << "something was left beside it";
}

TEST_F(ExporterTest, ReplacesAPackageOnlyWhenToldTo) {
  export_checkpoint(kCheckpoint, folder_ / "package");
  EXPECT_EQ(code_of_export(kCheckpoint, folder_ / "package"), ErrorCode::kAlreadyExists);
  ExportOptions options;
  options.force = true;
  options.opset = 14;
  export_checkpoint(kCheckpoint, folder_ / "package", options);
  EXPECT_NE(content(folder_ / "package/sampan.json").find("\"opset\": 14"), std::string::npos);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ExporterTest, AStoppedExportLeavesNothingAndTheOldPackageAlone) {
  export_checkpoint(kCheckpoint, folder_ / "package");
  const auto before = content_of_folder(folder_ / "package");
  std::stop_source stop;
  ExportOptions options;
  options.force = true;
  options.opset = 15;
  options.stop = stop.get_token();
  options.report = [&](std::string_view line) {
    if (line.starts_with("wrote encoder_model")) stop.request_stop();
  };
  EXPECT_EQ(code_of_export(kCheckpoint, folder_ / "package", options), ErrorCode::kCancelled);
  EXPECT_EQ(content_of_folder(folder_ / "package"), before);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ExporterTest, RefusesAnOperatorSetItDoesNotWrite) {
  for (const std::int64_t opset : {13, 19}) {
    ExportOptions options;
    options.opset = opset;
    EXPECT_EQ(code_of_export(kCheckpoint, folder_ / "package", options), ErrorCode::kUnsupported);
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(ExporterTest, DerivesTheGenerationConfigurationAsTransformersDoes) {
  fs::copy(kCheckpoint, folder_ / "checkpoint");
  fs::remove(folder_ / "checkpoint/generation_config.json");
  export_checkpoint(folder_ / "checkpoint", folder_ / "package");
  const std::string derived = content(folder_ / "package/generation_config.json");
  for (const char* field : {"\"bad_words_ids\"", "\"forced_eos_token_id\": 0", "\"num_beams\": 4",
                            "\"max_length\": 512", "\"_from_model_config\": true"})
    EXPECT_NE(derived.find(field), std::string::npos) << field;
}

TEST_F(ExporterTest, AddsATokenizerJsonForOtherLoaders) {
  export_checkpoint(kCheckpoint, folder_ / "package");
  EXPECT_EQ(content(folder_ / "package/tokenizer.json"), text::make_tokenizer_json(kCheckpoint));
}

TEST_F(ExporterTest, RefusesACheckpointWhoseTokenizerIsIncompleteBeforeWriting) {
  fs::copy(kCheckpoint, folder_ / "checkpoint");
  fs::remove(folder_ / "checkpoint/source.spm");
  EXPECT_EQ(code_of_export(folder_ / "checkpoint", folder_ / "package"), ErrorCode::kNotFound);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ExporterTest, PathsMayHaveAnyCharacters) {
  const fs::path checkpoint = folder_ / "模型 é", output = folder_ / "包 ü/в";
  fs::create_directories(output.parent_path());
  fs::copy(kCheckpoint, checkpoint);
  export_checkpoint(checkpoint, output);
  EXPECT_TRUE(package::open_package(output, "1.30.0").has_manifest);
}

TEST_F(ExporterTest, NamesTheRepositoryOfAHubCache) {
  const fs::path snapshot = folder_ / "models--Org--some-model/snapshots/0123456789abcdef";
  fs::create_directories(snapshot.parent_path());
  fs::copy(kCheckpoint, snapshot);
  export_checkpoint(snapshot, folder_ / "package");
  const std::string manifest = content(folder_ / "package/sampan.json");
  EXPECT_NE(manifest.find("\"name\": \"Org/some-model\""), std::string::npos);
  EXPECT_NE(manifest.find("\"revision\": \"0123456789abcdef\""), std::string::npos);
}

TEST_F(ExporterTest, NamesTheCommitThatAFolderWasDownloadedAt) {
  const std::string commit(40, 'a'), clone_commit(40, 'b');
  const fs::path checkpoint = folder_ / "checkpoint";
  fs::copy(kCheckpoint, checkpoint);
  const auto write = [&](const fs::path& file, const std::string& text) {
    fs::create_directories((checkpoint / file).parent_path());
    std::ofstream(checkpoint / file) << text;
  };
  const auto revision = [&] {
    ExportOptions options;
    options.force = true;
    export_checkpoint(checkpoint, folder_ / "package", options);
    const std::string manifest = content(folder_ / "package/sampan.json");
    return package::parse_manifest(manifest, "").source.revision;
  };
  EXPECT_EQ(revision(), "");
  write(".git/HEAD", "ref: refs/heads/main\n");
  write(".git/refs/heads/main", clone_commit + "\n");
  EXPECT_EQ(revision(), clone_commit);
  write(".git/HEAD", "ref: ../../../../etc/hostname\n");
  EXPECT_EQ(revision(), "");
  write(".cache/huggingface/download/config.json.metadata", commit + "\netag\n1.5\n");
  EXPECT_EQ(revision(), commit);
}

TEST_F(ExporterTest, NeverTakesTheCheckpointAwayWithAnOldPackage) {
  const fs::path checkpoint = folder_ / "model/checkpoint";
  fs::create_directories(checkpoint.parent_path());
  fs::copy(kCheckpoint, checkpoint);
  ExportOptions force;
  force.force = true;
  for (const fs::path& output : {checkpoint, checkpoint.parent_path(), checkpoint / ".." / ""}) {
    std::ofstream(output / "sampan.json") << "{}";
    EXPECT_EQ(code_of_export(checkpoint, output, force), ErrorCode::kInvalidArgument) << output;
  }
  EXPECT_TRUE(fs::exists(checkpoint / "model.safetensors"));
  EXPECT_NO_THROW(export_checkpoint(checkpoint, checkpoint / "package"));
}

TEST_F(ExporterTest, RefusesATokenizerFileThatIsALinkOutOfTheCheckpoint) {
  fs::copy(kCheckpoint, folder_ / "checkpoint");
  fs::rename(folder_ / "checkpoint/special_tokens_map.json", folder_ / "outside.json");
  fs::create_symlink(folder_ / "outside.json", folder_ / "checkpoint/special_tokens_map.json");
  EXPECT_EQ(code_of_export(folder_ / "checkpoint", folder_ / "package"), ErrorCode::kInvalidData);
  EXPECT_FALSE(fs::exists(folder_ / "package"));
}

}  // namespace
}  // namespace sampan
