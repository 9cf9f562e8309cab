// Packages that cannot be loaded, options, and one model in several threads.
#include "session/sequence_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/external_data.h"
#include "graph/onnx_reader.h"
#include "graph/onnx_writer.h"
#include "sampan/error.h"
#include "session/packages.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::session {
namespace {

using package::GraphRole;
using test::caught_error;
using testing::HasSubstr;
namespace fs = std::filesystem;

SessionOptions one_thread() {
  SessionOptions options;
  options.intra_op_threads = 1;
  return options;
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Error load_error(const package::Package& package, const SessionOptions& options = one_thread()) {
  return caught_error([&] { SequenceModel::load(package, options); });
}

TEST(SequenceModel, tells_the_runtimes_version) {
  EXPECT_THAT(runtime_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

TEST(SequenceModel, options_name_every_problem) {
  SessionOptions options;
  EXPECT_TRUE(options.validate().empty());
  options.intra_op_threads = -1;
  options.optimization_level = static_cast<OptimizationLevel>(7);
  options.providers = {"cpu", ""};
  EXPECT_THAT(options.validate(),
              testing::ElementsAre(HasSubstr("threads is -1"), HasSubstr("optimization_level is 7"),
                                   HasSubstr("providers[1] is empty")));
  EXPECT_EQ(load_error(fixture_package("merged"), options).code(), ErrorCode::kInvalidArgument);
}

TEST(SequenceModel, provider_that_the_runtime_lacks_is_refused_with_those_it_has) {
  SessionOptions options = one_thread();
  options.providers = {"CPU", "no_such"};
  const Error error = load_error(fixture_package("merged"), options);
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("execution provider 'no_such' is not in this ONNX Runtime"));
  EXPECT_THAT(error.what(), HasSubstr("cpu"));
}

TEST(SequenceModel, cpu_may_be_asked_for_by_any_of_its_names) {
  for (const char* name : {"cpu", "CPU", "CPUExecutionProvider"}) {
    SessionOptions options = one_thread();
    options.providers = {name};
    EXPECT_NO_THROW(SequenceModel::load(fixture_package("merged"), options)) << name;
  }
}

TEST(SequenceModel, every_setting_of_the_options_decodes_alike) {
  std::vector<SessionOptions> settings(4, one_thread());
  settings[0].optimization_level = OptimizationLevel::kDisabled;
  settings[1].optimization_level = OptimizationLevel::kBasic;
  settings[2].cpu_memory_arena = false;
  settings[3].intra_op_threads = 2;
  settings[3].allow_spinning = true;
  const GoldenCase& item = golden().cases[2];
  for (const SessionOptions& options : settings) {
    const auto state =
        SequenceModel::load(fixture_package("three_files"), options)->new_step_model();
    state->start({item.source});
    const std::span<float> logits = state->step(std::vector{golden().pad_token_id}, 1);
    EXPECT_NEAR(logits[5], item.logits[0][5], 5e-5);
  }
}

TEST(SequenceModel, package_without_a_graph_is_refused) {
  package::Package package = fixture_package("merged");
  package.graphs.erase(GraphRole::kDecoderMerged);
  package.graphs[GraphRole::kDecoder] = "decoder_model.onnx";
  const Error error = load_error(package);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("the package has no decoder_model_merged.onnx"));
  package.graphs.clear();
  EXPECT_THAT(load_error(package).what(), HasSubstr("the package has no encoder_model.onnx"));
}

TEST(SequenceModel, graph_file_that_vanished_is_named) {
  package::Package package = fixture_package("merged");
  package.graphs[GraphRole::kEncoder] = "/nowhere/encoder_model.onnx";
  const Error error = load_error(package);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/encoder_model.onnx: no such graph file"));
}

TEST(SequenceModel, damaged_graphs_are_refused_in_one_line) {
  const test::TemporaryFolder folder;
  package::Package package = fixture_package("merged");
  const std::string whole = content(package.graphs[GraphRole::kEncoder]);
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("<!DOCTYPE html><html>"),
        std::string("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")}) {
    package.graphs[GraphRole::kEncoder] = folder.write("encoder_model.onnx", damaged);
    const Error error = load_error(package);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("encoder_model.onnx: ONNX Runtime"));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("/onnxruntime_src/"), std::string::npos);
  }
}

/// The encoder of the fixture, whose largest weight lies in a file beside it.
fs::path encoder_with_data_at(const test::TemporaryFolder& folder, const std::string& location,
                              std::uint64_t offset) {
  graph::Model model =
      graph::read_model_file(fixture_package("merged").graphs.at(GraphRole::kEncoder));
  auto& weights = model.graph.initializers;
  auto& largest = *std::ranges::max_element(weights, {}, graph::byte_size);
  largest.data = graph::ExternalData{location, offset, graph::byte_size(largest)};
  std::string bytes;
  graph::write_model(model, [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return folder.write("package/encoder_model.onnx", bytes);
}

TEST(SequenceModel, data_files_must_hold_the_weights_and_lie_in_the_folder) {
  const test::TemporaryFolder folder;
  package::Package package = fixture_package("merged");
  auto& encoder = package.graphs[GraphRole::kEncoder];
  folder.write("outside.data", std::string(1 << 16, '\0'));
  folder.write("package/inside.data", std::string(1 << 16, '\0'));
  encoder = encoder_with_data_at(folder, "inside.data", 64);
  EXPECT_NO_THROW(SequenceModel::load(package, one_thread()));

  encoder = encoder_with_data_at(folder, "inside.data", (1 << 16) - 4);
  EXPECT_THAT(load_error(package).what(), HasSubstr("out of bounds"));
  encoder = encoder_with_data_at(folder, "absent.data", 0);
  EXPECT_THAT(load_error(package).what(), HasSubstr("does not exist"));
  fs::create_symlink("../outside.data", folder.path() / "package/link.data");
  for (const std::string& location : {std::string("../outside.data"), std::string("link.data"),
                                      (folder.path() / "outside.data").string()}) {
    encoder = encoder_with_data_at(folder, location, 0);
    const Error error = load_error(package);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << location;
    EXPECT_THAT(error.what(), HasSubstr("External data path"));
    EXPECT_THAT(error.what(), HasSubstr(encoder.string()));
  }
}

TEST(SequenceModel, graph_in_anothers_place_is_refused) {
  package::Package package = fixture_package("three_files");
  std::swap(package.graphs[GraphRole::kEncoder], package.graphs[GraphRole::kDecoder]);
  const Error error = load_error(package);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr("decoder_model.onnx: input 'attention_mask' is missing"));
}

TEST(SequenceModel, folder_with_characters_beyond_ascii_is_loaded) {
  const test::TemporaryFolder folder;
  package::Package package = fixture_package("merged");
  for (auto& [role, file] : package.graphs)
    file = folder.write(fs::path(u8"模型 é") / file.filename(), content(file));
  EXPECT_NO_THROW(SequenceModel::load(package, one_thread()));
}

/// All three decoders, of which `broken` ones are not ONNX at all.
package::Package with_all_decoders(const test::TemporaryFolder& folder,
                                   const std::vector<GraphRole>& broken) {
  package::Package package = fixture_package("three_files");
  package.graphs[GraphRole::kDecoderMerged] =
      fixture_package("merged").graphs.at(GraphRole::kDecoderMerged);
  for (auto& [role, file] : package.graphs) {
    const bool spoil = std::ranges::find(broken, role) != broken.end();
    file = folder.write(file.filename(), spoil ? "broken" : content(file));
  }
  return package;
}

TEST(SequenceModel, small_package_with_all_decoders_runs_the_separate_ones) {
  const test::TemporaryFolder folder;
  const auto package = with_all_decoders(folder, {GraphRole::kDecoderMerged});
  EXPECT_NO_THROW(SequenceModel::load(package, one_thread()));
}

TEST(SequenceModel, large_package_with_all_decoders_runs_the_merged_one) {
  const test::TemporaryFolder folder;
  const auto package =
      with_all_decoders(folder, {GraphRole::kDecoder, GraphRole::kDecoderWithPast});
  EXPECT_THROW(SequenceModel::load(package, one_thread()), Error);
  fs::resize_file(folder.write("weights.data", ""), std::uintmax_t{200} << 20);  // no block is used
  EXPECT_NO_THROW(SequenceModel::load(package, one_thread()));
}

TEST(SequenceModel, package_without_a_position_limit_takes_targets_of_any_length) {
  package::Package package = fixture_package("merged");
  package.max_positions = 0;
  EXPECT_GT(SequenceModel::load(package, one_thread())->new_step_model()->max_positions(), 1 << 30);
}

TEST(SequenceModel, threads_decode_with_one_model_at_once) {
  const auto model = SequenceModel::load(fixture_package("merged"), one_thread());
  const auto& cases = golden().cases;
  std::vector<int> wrong(cases.size(), 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cases.size(); ++i)
      threads.emplace_back([&, i] {
        const auto state = model->new_step_model();
        for (int round = 0; round < 5; ++round) {
          state->start({cases[i].source, cases[0].source});
          state->select(std::vector<std::int64_t>{1, 0});
          std::int64_t last = golden().pad_token_id;
          for (std::size_t step = 0; step < cases[i].tokens.size(); ++step) {
            const std::span<float> logits = state->step(std::vector{last, last}, 1);
            const auto own = logits.subspan(static_cast<std::size_t>(golden().vocab_size));
            own[static_cast<std::size_t>(golden().pad_token_id)] = -INFINITY;
            last = std::ranges::max_element(own) - own.begin();
            wrong[i] += last != cases[i].tokens[step];
          }
        }
      });
  }
  EXPECT_THAT(wrong, testing::Each(0));
}

}  // namespace
}  // namespace sampan::session
