#include "package/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/caught_error.h"

namespace sampan::package {
namespace {

using test::caught_error;
using ::testing::HasSubstr;

Manifest example() {
  const std::string digest(64, 'a');
  Manifest manifest;
  manifest.producer = {"sampan", "0.1.0", "0123abcd"};
  manifest.source = {"Helsinki-NLP/opus-mt-en-zh", "408d9bc4", {{"config.json", 1403, digest}}};
  manifest.architecture = "marian";
  manifest.precision = "fp32";
  manifest.scheme = "none";
  manifest.layout = "shared";
  manifest.opset = 17;
  manifest.least_runtime_version = "1.12.0";
  manifest.special_tokens = {.pad = 65000, .eos = {0}, .bos = {}, .decoder_start = 65000};
  manifest.graphs = {{GraphRole::kEncoder, "encoder_model.onnx"}};
  manifest.files = {{"config.json", 1403, digest}, {"encoder_model.onnx", 5'000'000'000, digest}};
  return manifest;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

Error refused(const std::string& json) {
  return caught_error([&] { parse_manifest(json, "package/sampan.json"); });
}

TEST(Manifest, ReadsWhatItWrote) {
  const std::string text = format_manifest(example());
  const Manifest read = parse_manifest(text, "sampan.json");
  EXPECT_EQ(format_manifest(read), text);
  EXPECT_EQ(read.source.name, "Helsinki-NLP/opus-mt-en-zh");
  EXPECT_EQ(read.files.at(1).size, 5'000'000'000u);
  EXPECT_EQ(read.graphs.at(GraphRole::kEncoder), "encoder_model.onnx");
  EXPECT_EQ(read.special_tokens.pad, 65000);
  EXPECT_FALSE(read.special_tokens.bos);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Manifest, IgnoresFieldsThatItDoesNotKnow) {
  const std::string text = replaced(format_manifest(example()), "{", "{\"licence\": [\"x\"],");
  EXPECT_EQ(parse_manifest(text, "sampan.json").opset, 17);
}

// The newer format may have changed anything else, so nothing else is looked at first.
TEST(Manifest, RefusesANewerFormatAndSaysWhatToDo) {
  const Error error = refused(R"({"format": "sampan-package", "format_version": 2})");
  EXPECT_EQ(error.code(), ErrorCode::kIncompatible);
  EXPECT_THAT(error.what(), HasSubstr("package/sampan.json"));
  EXPECT_THAT(error.what(), HasSubstr("update sampan"));
}

TEST(Manifest, NamesTheFieldThatIsDamaged) {
  const struct {
    std::string_view from, to, message;
  } cases[] = {
      {"\"sampan-package\"", "\"zip\"", "'format' is not 'sampan-package'"},
      {"\"format_version\": 1", "\"format_version\": 0", "'format_version' is below 1"},
      {"\"opset\"", "\"opsets\"", "'opset' is missing"},
      {"\"marian\"", "7", "'architecture' is not a string"},
      {"\"size\": 1403", "\"size\": -1", "'source.files[0].size' is negative"},
      {"\"size\": 1403", "\"size\": 1.5", "'source.files[0].size' is not a whole number"},
      {"\"size\": 1403", "\"size\": 18446744073709551615", "is not a whole number in range"},
      {"\"size\": 5000000000", "\"size\": \"1\"", "'files[1].size' is not a whole number"},
      {"aaaa\"", "aaaA\"", "is not 64 lower-case hexadecimal digits"},
      {"\"path\": \"encoder_model.onnx\"", "\"path\": \"config.json\"", "'files[1].path' appears"},
      {"\"encoder\":", "\"vision\":", "'graphs.vision' is not a graph that this version knows"},
      {"\"encoder\": \"encoder_model", "\"encoder\": \"other", "'graphs.encoder' is not one of"},
      {"\"graphs\": {", "\"graphs\": [{}], \"x\": {", "field 'graphs' is not an object"},
  };
  const std::string text = format_manifest(example());
  for (const auto& c : cases) {
    const Error error = refused(replaced(text, c.from, c.to));
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << c.to;
    EXPECT_THAT(error.what(), HasSubstr(c.message));
  }
}

TEST(Manifest, RefusesTextThatIsCutAnywhere) {
  const std::string text = format_manifest(example());
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    ASSERT_EQ(refused(text.substr(0, length)).code(), ErrorCode::kInvalidData) << length;
}

TEST(Manifest, RefusesDeepNestingWithoutHarm) {
  EXPECT_EQ(refused(std::string(900'000, '[')).code(), ErrorCode::kInvalidData);
  EXPECT_EQ(refused(std::string(400'000, '[') + std::string(400'000, ']')).code(),
            ErrorCode::kInvalidData);
}

TEST(Manifest, WritesANameThatIsNotUtf8) {
  Manifest manifest = example();
  manifest.source.name = "caf\xe9";
  EXPECT_EQ(parse_manifest(format_manifest(manifest), "").source.name, "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace sampan::package
