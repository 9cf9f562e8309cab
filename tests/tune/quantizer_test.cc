#include "sampan/quantizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "package/package.h"
#include "sampan/exporter.h"
#include "sampan/translator.h"
#include "session/sequence_model.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"
#include "tune/fp32_package.h"
#include "tune/package_rewrite.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::content_of;
using test::fp32_package;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class QuantizePackageTest : public ::testing::Test {
 protected:
  QuantizeSummary quantize(const QuantizeOptions& options) {
    return quantize_package(fp32_package(), output_, options);
  }

  TemporaryFolder folder_;
  fs::path output_ = folder_.path() / "small";
};

TEST_F(QuantizePackageTest, MakesAQuarterOrAnEighthThatTranslates) {
  const std::string expected = Translator::load(fp32_package()).translate("I am happy.").text;
  const struct {
    QuantizationScheme scheme;
    bool asymmetric;
    double most;
    const char* name;
  } cases[] = {{QuantizationScheme::kInt8, false, 0.3, "int8-block128"},
               {QuantizationScheme::kInt4, false, 0.18, "int4-block128"},
               {QuantizationScheme::kInt4, true, 0.18, "int4-block128-asymmetric"}};
  for (const auto& c : cases) {
    QuantizeOptions options;
    options.scheme = c.scheme;
    options.asymmetric = c.asymmetric;
    options.force = true;
    const QuantizeSummary summary = quantize(options);
    EXPECT_LT(static_cast<double>(summary.graph_bytes_after),
              c.most * static_cast<double>(summary.graph_bytes_before));
    EXPECT_NO_THROW(package::verify_files(output_));
    EXPECT_EQ(package::read_manifest(output_)->scheme, c.name);
    EXPECT_EQ(names_in(output_), names_in(fp32_package()));
    EXPECT_EQ(Translator::load(output_).translate("I am happy.").text, expected) << c.name;
  }
}

TEST_F(QuantizePackageTest, GivesTheSameBytesTwice) {
  QuantizeOptions options;
  options.scheme = QuantizationScheme::kInt4;
  options.keep_int8 = "shared";
  quantize(options);
  quantize_package(fp32_package(), folder_ / "again", options);
  for (const std::string& name : names_in(output_))
    EXPECT_EQ(content_of(output_ / name), content_of(folder_ / "again" / name)) << name;
}

TEST_F(QuantizePackageTest, KeepsWeightsByTheirNames) {
  QuantizeOptions options;
  options.scheme = QuantizationScheme::kInt4;
  options.keep_float = "encoder\\.layers\\.1\\.fc[12]";
  options.keep_int8 = "shared|embed_tokens";
  const QuantizeSummary summary = quantize(options);
  std::vector<std::string> names;
  for (const auto& weight : summary.kept_float)
    if (weight.name.find("embed_positions") == std::string::npos) names.push_back(weight.name);
  EXPECT_THAT(names, ElementsAre("model.encoder.layers.1.fc1.weight.transposed",
                                 "model.encoder.layers.1.fc2.weight.transposed"));
  const std::string graph = content_of(output_ / "decoder_model.onnx");
  EXPECT_THAT(graph, HasSubstr(".rows.int8.table"));
  EXPECT_THAT(graph, Not(HasSubstr(".rows.int4.table")));
  EXPECT_EQ(package::read_manifest(output_)->scheme, "int4-block128-mixed");
}

// A package for browsers: every graph has its weights inside.
TEST_F(QuantizePackageTest, TakesEitherLayout) {
  ExportOptions layout;
  layout.layout = PackageLayout::kSeparate;
  export_checkpoint(fs::path(kSourceFolder) / "models/tatoeba-en-zh", folder_ / "separate", layout);
  quantize_package(folder_ / "separate", output_, {});
  quantize_package(fp32_package(), folder_ / "shared", {});
  EXPECT_EQ(Translator::load(output_).translate("Where is the station?").tokens,
            Translator::load(folder_ / "shared").translate("Where is the station?").tokens);
}

TEST_F(QuantizePackageTest, RefusesWhatItCannotQuantise) {
  quantize({});
  const Error again = caught_error([&] { quantize_package(output_, folder_ / "again", {}); });
  EXPECT_EQ(again.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(again.what(), HasSubstr("quantised already (int8-block128)"));
  QuantizeOptions nothing;
  nothing.keep_float = ".";
  nothing.force = true;
  EXPECT_EQ(caught_error([&] { quantize(nothing); }).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(caught_error([&] { quantize({}); }).code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(caught_error([&] { quantize_package(folder_ / "none", folder_ / "new", {}); }).code(),
            ErrorCode::kNotFound);
  QuantizeOptions wrong;
  wrong.block_size = 48;
  wrong.keep_int8 = "a";
  EXPECT_EQ(wrong.validate().size(), 2u);
  EXPECT_EQ(caught_error([&] { quantize(wrong); }).code(), ErrorCode::kInvalidArgument);
  QuantizeOptions onto_itself;
  onto_itself.force = true;
  EXPECT_EQ(caught_error([&] { quantize_package(output_, output_, onto_itself); }).code(),
            ErrorCode::kUnsupported);
  EXPECT_EQ(
      caught_error([&] { quantize_package(fp32_package(), fp32_package(), onto_itself); }).code(),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(names_in(folder_.path()), std::set<std::string>{"small"});
}

TEST_F(QuantizePackageTest, StoppedAnywhereLeavesNothing) {
  for (const char* at : {"wrote encoder_model.onnx", "wrote model.onnx_data", "the runtime's"}) {
    std::stop_source stop;
    QuantizeOptions options;
    options.stop = stop.get_token();
    bool reached = false;
    options.report = [&](std::string_view line) {
      if (!line.starts_with(at)) return;
      reached = true;
      stop.request_stop();
    };
    EXPECT_EQ(caught_error([&] { quantize(options); }).code(), ErrorCode::kCancelled) << at;
    EXPECT_TRUE(reached) << at;
    EXPECT_EQ(names_in(folder_.path()), std::set<std::string>{}) << at;
  }
}

TEST_F(QuantizePackageTest, TellsAnOldRuntimeInOneLine) {
  quantize({});
  const Error opening = caught_error([&] { package::open_package(output_, "1.21.0"); });
  EXPECT_EQ(opening.code(), ErrorCode::kIncompatible);
  EXPECT_THAT(opening.what(),
              HasSubstr("needs ONNX Runtime 1.23.0 or later, and this one is 1.21"));
  const Error writing = caught_error([] {
    tune::check_runtime({"int2-block8", "int2", "99.0.0"});
  });
  EXPECT_EQ(writing.code(), ErrorCode::kIncompatible);
  EXPECT_THAT(writing.what(), HasSubstr("int2-block8 needs ONNX Runtime 99.0.0"));
}

// A package is input from outside: what is wrong with it ends in an error, and writes nothing.
TEST_F(QuantizePackageTest, RefusesADamagedPackage) {
  const struct {
    const char* file;
    std::size_t keep;
  } cases[] = {{"sampan.json", 100}, {"encoder_model.onnx", 9000}, {"model.onnx_data", 4096}};
  for (const auto& c : cases) {
    const fs::path broken = folder_ / "broken";
    fs::copy(fp32_package(), broken);
    fs::resize_file(broken / c.file, c.keep);
    EXPECT_EQ(caught_error([&] { quantize_package(broken, output_, {}); }).code(),
              ErrorCode::kInvalidData)
        << c.file;
    fs::remove_all(broken);
    EXPECT_EQ(names_in(folder_.path()), std::set<std::string>{});
  }
}

TEST_F(QuantizePackageTest, RefusesWeightsThatAreNotFinite) {
  const fs::path broken = folder_ / "broken";
  fs::copy(fp32_package(), broken);
  std::string weights = content_of(broken / "model.onnx_data");
  std::fill_n(weights.begin() + 8192, 64, '\xff');
  folder_.write("broken/model.onnx_data", weights);
  const Error error = caught_error([&] { quantize_package(broken, output_, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_EQ(names_in(folder_.path()), std::set<std::string>{"broken"});
}

}  // namespace
}  // namespace sampan
