#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "package/package.h"
#include "sampan/exporter.h"
#include "sampan/quantizer.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "tune/fp32_package.h"

/// `gptq` from end to end.
namespace sampan {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::content_of;
using test::fp32_package;
using test::TemporaryFolder;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

fs::path checkpoint() { return fs::path(kSourceFolder) / "models/tatoeba-en-zh"; }

// A safetensors file with zeros for one of its weights.
std::string without_weight(std::string file, const std::string& name) {
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  const std::string key = "\"data_offsets\":[";
  const std::size_t at = file.find(key, file.find('"' + name + '"')) + key.size();
  const std::size_t start = std::stoul(file.substr(at, 20));
  const std::size_t end = std::stoul(file.substr(file.find(',', at) + 1, 20));
  return file.replace(sizeof header + header + start, end - start, end - start, '\0');
}

class CompensationTest : public ::testing::Test {
 protected:
  // Only the decoder's attention, so that the test is fast.
  CompensationTest() {
    options_.scheme = QuantizationScheme::kInt4;
    options_.gptq = true;
    options_.keep_float = "shared|fc|encoder\\.layers|logits";
    options_.calibration = fs::path(kSourceFolder) / "tests/data/corpus/calibration.en";
    options_.calibration_lines = 20;
    options_.report = [this](std::string_view line) { said_.emplace_back(line); };
  }

  TemporaryFolder folder_;
  QuantizeOptions options_;
  std::vector<std::string> said_;
};

TEST_F(CompensationTest, IsKeptWhereItLowersTheLossOnHeldText) {
  quantize_package(fp32_package(), folder_ / "small", options_);
  const package::Manifest manifest = *package::read_manifest(folder_ / "small");
  EXPECT_EQ(manifest.scheme, "int4-block128-gptq");
  EXPECT_THAT(manifest.scheme_note, StartsWith("gptq: loss on "));
  EXPECT_THAT(manifest.scheme_note, EndsWith(": kept"));
  EXPECT_THAT(said_, Contains(manifest.scheme_note));
  EXPECT_NO_THROW(package::verify_files(folder_ / "small"));
  options_.gptq = false;
  options_.calibration.clear();
  quantize_package(fp32_package(), folder_ / "plain", options_);
  EXPECT_EQ(fs::file_size(folder_ / "small/model.onnx_data"),
            fs::file_size(folder_ / "plain/model.onnx_data"));
  EXPECT_NE(content_of(folder_ / "small/model.onnx_data"),
            content_of(folder_ / "plain/model.onnx_data"));
}

// A matrix of zeros is stored exactly: there is nothing to make good.
TEST_F(CompensationTest, IsNotKeptWhereItLowersNothing) {
  const fs::path edited = folder_ / "checkpoint";
  fs::copy(checkpoint(), edited, fs::copy_options::recursive);
  folder_.write("checkpoint/model.safetensors",
                without_weight(content_of(edited / "model.safetensors"),
                               "model.decoder.layers.1.self_attn.q_proj.weight"));
  export_checkpoint(edited, folder_ / "fp32");
  options_.keep_float = "shared|fc|encoder|layers.0|[kv]_proj|out_proj|logits";
  quantize_package(folder_ / "fp32", folder_ / "small", options_);
  EXPECT_EQ(package::read_manifest(folder_ / "small")->scheme, "int4-block128");
  EXPECT_THAT(package::read_manifest(folder_ / "small")->scheme_note, EndsWith(": not kept"));
}

TEST_F(CompensationTest, StoppedWhileCalibratingLeavesNothing) {
  std::stop_source stop;
  options_.stop = stop.get_token();
  options_.report = [&](std::string_view line) {
    if (line.starts_with("calibrated")) stop.request_stop();
  };
  EXPECT_EQ(
      caught_error([&] { quantize_package(fp32_package(), folder_ / "small", options_); }).code(),
      ErrorCode::kCancelled);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CompensationTest, RefusesTextThatCannotServe) {
  options_.calibration_lines = 9;
  const Error few =
      caught_error([&] { quantize_package(fp32_package(), folder_ / "small", options_); });
  EXPECT_EQ(few.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(few.what(), HasSubstr("has 9 sentences; gptq needs 10 or more"));
  options_.calibration = folder_ / "none.txt";
  EXPECT_EQ(
      caught_error([&] { quantize_package(fp32_package(), folder_ / "small", options_); }).code(),
      ErrorCode::kNotFound);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CompensationTest, GoesWithBlocksAndATextAlone) {
  options_.calibration.clear();
  EXPECT_THAT(options_.validate(), Contains(HasSubstr("static-int8 and gptq need a text")));
  options_.scheme = QuantizationScheme::kDynamicInt8;
  EXPECT_THAT(options_.validate(), Contains(HasSubstr("gptq is given")));
}

}  // namespace
}  // namespace sampan
