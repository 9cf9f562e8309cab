#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/onnx_reader.h"
#include "package/package.h"
#include "sampan/exporter.h"
#include "sampan/quantizer.h"
#include "sampan/translator.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::TemporaryFolder;

fs::path checkpoint() { return fs::path(kSourceFolder) / "models/tatoeba-en-zh"; }

// The bundled checkpoint as fp32 packages, exported once for all tests.
fs::path exported(PackageLayout layout) {
  static const TemporaryFolder folder;
  const fs::path package = folder / (layout == PackageLayout::kShared ? "shared" : "separate");
  ExportOptions options;
  options.layout = layout;
  if (!fs::exists(package)) export_checkpoint(checkpoint(), package, options);
  return package;
}

fs::path source() { return exported(PackageLayout::kShared); }

QuantizeOptions options_of(QuantizationScheme scheme) {
  QuantizeOptions options;
  options.scheme = scheme;
  if (scheme == QuantizationScheme::kStaticInt8) {
    options.calibration = fs::path(kSourceFolder) / "tests/data/corpus/calibration.en";
    options.calibration_lines = 8;
  }
  return options;
}

struct PortableScheme {
  const char* name;
  QuantizationScheme scheme;
};

std::string name_of_test(const ::testing::TestParamInfo<PortableScheme>& test) {
  return test.param.name;
}

class PortableSchemeTest : public ::testing::TestWithParam<PortableScheme> {
 protected:
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(
    All, PortableSchemeTest,
    ::testing::Values(PortableScheme{"dynamic_int8", QuantizationScheme::kDynamicInt8},
                      PortableScheme{"static_int8", QuantizationScheme::kStaticInt8},
                      PortableScheme{"fp16", QuantizationScheme::kFp16}),
    name_of_test);

TEST_P(PortableSchemeTest, TranslatesAsBeforeWithOperatorsOfOnnxAlone) {
  quantize_package(source(), folder_ / "small", options_of(GetParam().scheme));
  EXPECT_NO_THROW(package::verify_files(folder_ / "small"));
  const package::Manifest manifest = *package::read_manifest(folder_ / "small");
  for (const auto& [role, path] : manifest.graphs) {
    const graph::Model model = graph::read_model_file(folder_ / "small" / path);
    const graph::Model original = graph::read_model_file(source() / path);
    ASSERT_EQ(model.opset_imports.size(), 1u) << path;
    EXPECT_EQ(model.opset_imports[0].domain, "");
    ASSERT_EQ(model.graph.inputs.size(), original.graph.inputs.size());
    for (std::size_t i = 0; i < model.graph.inputs.size(); ++i)
      EXPECT_EQ(model.graph.inputs[i].name, original.graph.inputs[i].name);
    ASSERT_EQ(model.graph.outputs.size(), original.graph.outputs.size());
    for (std::size_t i = 0; i < model.graph.outputs.size(); ++i) {
      EXPECT_EQ(model.graph.outputs[i].name, original.graph.outputs[i].name);
      EXPECT_EQ(model.graph.outputs[i].dtype, original.graph.outputs[i].dtype);
    }
  }
  const Translator small = Translator::load(folder_ / "small");
  const Translator fp32 = Translator::load(source());
  int equal = 0;
  const std::vector<std::string> texts = {
      "Where is the station?", "He is my friend.", "Thank you.",        "I like music.",
      "It is raining.",        "Who are you?",     "She is a teacher.", "Come here."};
  for (const std::string& text : texts)
    equal += small.translate(text).text == fp32.translate(text).text ? 1 : 0;
  EXPECT_GE(equal, 6);
}

TEST_P(PortableSchemeTest, GivesTheSameBytesTwice) {
  quantize_package(source(), folder_ / "one", options_of(GetParam().scheme));
  quantize_package(source(), folder_ / "two", options_of(GetParam().scheme));
  for (const auto& entry : fs::directory_iterator(folder_ / "one"))
    EXPECT_EQ(content_of(entry.path()), content_of(folder_ / "two" / entry.path().filename()))
        << entry.path().filename();
}

// A package for browsers: every graph has its weights inside.
TEST_P(PortableSchemeTest, TakesEitherLayout) {
  quantize_package(exported(PackageLayout::kSeparate), folder_ / "small",
                   options_of(GetParam().scheme));
  quantize_package(source(), folder_ / "shared", options_of(GetParam().scheme));
  EXPECT_EQ(Translator::load(folder_ / "small").translate("Where is the station?").tokens,
            Translator::load(folder_ / "shared").translate("Where is the station?").tokens);
}

TEST(DynamicInt8Package, StoresTheTableOnceInAQuarterOfTheSize) {
  const TemporaryFolder folder;
  const QuantizeSummary summary =
      quantize_package(source(), folder / "small", options_of(QuantizationScheme::kDynamicInt8));
  EXPECT_LT(static_cast<double>(summary.graph_bytes_after),
            0.3 * static_cast<double>(summary.graph_bytes_before));
  for (const auto& weight : summary.kept_float)
    EXPECT_THAT(weight.name, ::testing::HasSubstr("embed_positions"));
  EXPECT_EQ(package::read_manifest(folder / "small")->scheme, "dynamic-int8-per-channel");
}

/// Scales and zero points of activations in a graph and its branches, by name.
std::map<std::string, std::vector<std::byte>> activation_scales(const fs::path& file) {
  std::map<std::string, std::vector<std::byte>> found;
  const graph::Model model = graph::read_model_file(file);
  const auto collect = [&](const graph::Graph& graph) {
    for (const graph::Initializer& initializer : graph.initializers)
      if (initializer.name.find(".input_") != std::string::npos)
        found[initializer.name] = std::get<std::vector<std::byte>>(initializer.data);
  };
  collect(model.graph);
  for (const graph::Node& node : model.graph.nodes)
    for (const auto& [name, value] : node.attributes)
      if (const auto* branch = std::get_if<std::shared_ptr<const graph::Graph>>(&value))
        collect(**branch);
  return found;
}

TEST(StaticInt8Package, RoundsAllFormsOfTheDecoderAlike) {
  const TemporaryFolder folder;
  QuantizeOptions options = options_of(QuantizationScheme::kStaticInt8);
  options.calibration_method = CalibrationMethod::kEntropy;
  options.symmetric_decoder = true;
  quantize_package(source(), folder / "small", options);
  EXPECT_EQ(package::read_manifest(folder / "small")->scheme,
            "static-int8-per-channel-entropy-symmetric-decoder");
  const auto merged = activation_scales(folder / "small/decoder_model_merged.onnx");
  for (const char* file : {"small/decoder_model.onnx", "small/decoder_with_past_model.onnx"}) {
    const auto alone = activation_scales(folder / file);
    EXPECT_FALSE(alone.empty());
    for (const auto& [name, bytes] : alone) {
      EXPECT_EQ(merged.at(name), bytes) << name;
      if (name.ends_with("zero_point")) {
        EXPECT_EQ(bytes.at(0), std::byte{128}) << name;
      }
    }
  }
}

TEST(StaticInt8Package, NeedsATextAndSaysSo) {
  const TemporaryFolder folder;
  QuantizeOptions options = options_of(QuantizationScheme::kStaticInt8);
  options.calibration.clear();
  options.percentile = 0.0;
  EXPECT_EQ(options.validate().size(), 2u);
  options = options_of(QuantizationScheme::kStaticInt8);
  options.calibration = folder / "none.txt";
  const Error error =
      test::caught_error([&] { quantize_package(source(), folder / "small", options); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(DynamicInt8Package, RefusesOptionsOfOtherSchemes) {
  QuantizeOptions options = options_of(QuantizationScheme::kInt8);
  options.per_tensor = options.unsigned_weights = options.reduce_range = true;
  EXPECT_EQ(options.validate().size(), 1u);
  options.calibration = "text";
  options.symmetric_encoder = true;
  EXPECT_EQ(options.validate().size(), 3u);
  EXPECT_TRUE(options_of(QuantizationScheme::kDynamicInt8).validate().empty());
}

}  // namespace
}  // namespace sampan
