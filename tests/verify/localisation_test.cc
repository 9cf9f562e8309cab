#include "verify/localisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

#include "checkpoint/checkpoint.h"
#include "sampan/exporter.h"
#include "session/sequence_model.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "tensor/tensor.h"
#include "verify/faults.h"
#include "verify/graph_parity.h"

namespace sampan::verify {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;
using Json = nlohmann::json;

/// Fills every bias of a checkpoint with random numbers: trained ones may be zero, and then nobody
/// would miss them.
void draw_biases(const fs::path& file) {
  std::string bytes = test::content_of(file);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const Json header = Json::parse(bytes.substr(sizeof size, size));
  std::minstd_rand generator(7);
  for (const auto& [name, entry] : header.items()) {
    if (!name.ends_with("bias")) continue;
    ASSERT_EQ(entry["dtype"], "F16");
    const auto end = entry["data_offsets"][1].get<std::size_t>();
    for (auto at = entry["data_offsets"][0].get<std::size_t>(); at < end; at += 2) {
      const float value = static_cast<float>(generator() % 1001) / 1000.0F - 0.5F;
      const std::uint16_t half = tensor::float_to_half(value);
      std::memcpy(bytes.data() + sizeof size + size + at, &half, sizeof half);
    }
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

struct GraphFile {
  std::string report_name, file, branch;
};

/// One package for all tests of this process, and what the reference answers.
class Bench {
 public:
  static Bench& get() {
    static Bench bench;
    return bench;
  }

  /// What is found in one graph of the package with a fault in it; in all of them if `all`.
  Localisation find(const Fault& fault, const GraphFile& graph, bool all) {
    const fs::path path = package_folder_ / graph.file;
    const std::string content = test::content_of(path);
    GraphEditor editor(path, graph.branch);
    fault.make(editor);
    editor.write(path);
    const Localisation found = look(all ? "" : graph.report_name);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return found;
  }

  Localisation look(const std::string& only = "") const {
    const package::Package package =
        package::open_package(package_folder_, session::runtime_version());
    return localise({package,
                     *model_,
                     cases_,
                     answers_,
                     {},
                     session(),
                     true,
                     only.empty() ? std::vector<std::string>() : std::vector{only},
                     {},
                     {}});
  }

  static session::SessionOptions session() {
    session::SessionOptions options;
    options.intra_op_threads = 1;
    return options;
  }

  const checkpoint::ModelConfig& config() const { return checkpoint_->config; }

 private:
  Bench() {
    const fs::path source = fs::path(kSourceFolder) / "models/tatoeba-en-zh";
    const fs::path checkpoint = folder_ / "checkpoint";
    fs::copy(source, checkpoint);
    draw_biases(checkpoint / "model.safetensors");
    export_checkpoint(checkpoint, package_folder_);
    fs::remove(package_folder_ / "sampan.json");  // files are to change
    checkpoint_.emplace(checkpoint::open_checkpoint(checkpoint));
    model_.emplace(*checkpoint_);
    const std::int64_t start = checkpoint_->config.decoder_start_token_id;
    // Positions were taken for those of all rows where the longest row has as many tokens as the
    // rows times a shorter one's: 4 = 2 * 2 here.
    cases_ = {{"padded", {{5, 17, 900, 0}, {44, 0}}, {{{start}, {start}}, {{71}, {815}}}},
              {"several",
               {{12, 130, 0}, {9, 0}},
               {{{start, 20, 31}, {start, 44, 5}}, {{8, 9}, {10, 11}}}}};
    for (const ParityCase& parity_case : cases_) answers_.push_back(answer(*model_, parity_case));
  }

  test::TemporaryFolder folder_;
  fs::path package_folder_ = folder_ / "package";
  std::optional<checkpoint::Checkpoint> checkpoint_;
  std::optional<reference::Marian> model_;
  std::vector<ParityCase> cases_;
  std::vector<ReferenceAnswers> answers_;
};

void expect_found(const std::vector<Fault>& faults, const GraphFile& graph) {
  bool all = true;  // once each time: graphs that are right are not blamed
  for (const Fault& fault : faults) {
    SCOPED_TRACE(graph.report_name + ": " + fault.name);
    const Localisation found = Bench::get().find(fault, graph, all);
    all = false;
    ASSERT_FALSE(found.places.empty())
        << (found.not_checked.empty() ? "" : found.not_checked.front().detail);
    const Place& place = found.places.front();
    const std::string stack = graph.report_name == "encoder" ? "encoder." : "decoder.";
    EXPECT_EQ(place.graph, graph.report_name);
    EXPECT_EQ(place.name, stack + fault.place) << place.part << ", " << place.detail;
    EXPECT_THAT(place.part, StartsWith(fault.part)) << place.detail;
    EXPECT_GT(place.figure, 10 * place.limit);
    for (const Place& other : found.places) EXPECT_EQ(other.graph, graph.report_name);
  }
}

const GraphFile kEncoder = {"encoder", "encoder_model.onnx", ""};
const GraphFile kDecoder = {"decoder", "decoder_model.onnx", ""};
const GraphFile kWithPast = {"decoder_with_past", "decoder_with_past_model.onnx", ""};
const GraphFile kMergedFirst = {"merged.no_past", "decoder_model_merged.onnx", "no_past"};
const GraphFile kMergedLater = {"merged.with_past", "decoder_model_merged.onnx", "with_past"};

class EncoderLayer : public testing::TestWithParam<int> {};
TEST_P(EncoderLayer, EveryFaultIsFoundInItsPlace) {
  expect_found(faults_of_layer({"encoder", false, false, GetParam()}), kEncoder);
}
INSTANTIATE_TEST_SUITE_P(Layers, EncoderLayer, testing::Values(0, 1, 2));

class DecoderLayer : public testing::TestWithParam<int> {};
TEST_P(DecoderLayer, EveryFaultOfAFirstStepIsFoundInItsPlace) {
  expect_found(faults_of_layer({"decoder", true, true, GetParam()}), kDecoder);
}
TEST_P(DecoderLayer, EveryFaultOfALaterStepIsFoundInItsPlace) {
  expect_found(faults_of_layer({"decoder", true, false, GetParam()}), kWithPast);
}
// The branches are the other two graphs: one fault of each kind shows that they are looked into.
TEST_P(DecoderLayer, FaultsOfTheMergedGraphsBranchesAreFoundInTheirPlaces) {
  const auto some = [](std::vector<Fault> faults) {
    std::erase_if(faults, [](const Fault& fault) {
      return fault.name != "no mask" && fault.name != "swapped K and V" &&
             fault.name != "dropout of training" &&
             fault.name != "cross-attention of an earlier sentence";
    });
    return faults;
  };
  expect_found(some(faults_of_layer({"decoder", true, true, GetParam()})), kMergedFirst);
  expect_found(some(faults_of_layer({"decoder", true, false, GetParam()})), kMergedLater);
}
INSTANTIATE_TEST_SUITE_P(Layers, DecoderLayer, testing::Values(0, 1));

TEST(Localisation, FindsFaultsAroundTheLayers) {
  const auto width = static_cast<int>(Bench::get().config().d_model);
  const auto vocab_size = static_cast<int>(Bench::get().config().decoder_vocab_size);
  expect_found(faults_of_embedding("encoder", width), kEncoder);
  for (const GraphFile& graph : {kDecoder, kWithPast, kMergedLater})
    expect_found(faults_of_decoder(width, vocab_size), graph);
}

TEST(Localisation, FindsNothingInAGoodPackageAndTellsWhatEachPartLoses) {
  const Localisation found = Bench::get().look();
  EXPECT_TRUE(found.places.empty());
  EXPECT_TRUE(found.not_checked.empty());
  EXPECT_EQ(found.inner_values.size(), 64U + 2 * (79U + 67U));
  for (const InnerValue& value : found.inner_values)
    EXPECT_LT(value.difference, 2e-6) << value.name;
}

}  // namespace
}  // namespace sampan::verify
