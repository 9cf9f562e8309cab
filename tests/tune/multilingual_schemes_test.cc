// Every scheme on a model of many languages (tests/data/m2m100).

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sampan/exporter.h"
#include "sampan/quantizer.h"
#include "sampan/translator.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan {
namespace {

namespace fs = std::filesystem;

struct SchemeCase {
  const char* name;
  QuantizationScheme scheme;
  bool gptq;
  double most_nats;  ///< a token, lost on fp32's own translations
};

std::string name_of_test(const ::testing::TestParamInfo<SchemeCase>& test) {
  return test.param.name;
}

class MultilingualSchemeTest : public ::testing::TestWithParam<SchemeCase> {
 protected:
  static TranslateOptions options_for(const Translator& translator, const char* language) {
    TranslateOptions options = translator.default_options();
    options.split_sentences = false;
    options.target_language = language;
    options.generation.max_new_tokens = 12;
    return options;
  }

  // Mean of -log p of given translations.
  static double nats(const Translator& translator, const std::vector<std::string>& sources,
                     const std::vector<std::string>& targets, const char* language) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const auto& score :
         translator.score(sources, targets, options_for(translator, language))) {
      for (const float log_prob : score.log_probs) sum -= static_cast<double>(log_prob);
      count += score.log_probs.size();
    }
    return sum / static_cast<double>(count);
  }

  test::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(
    All, MultilingualSchemeTest,
    ::testing::Values(SchemeCase{"int8", QuantizationScheme::kInt8, false, 0.05},
                      SchemeCase{"int4", QuantizationScheme::kInt4, false, 0.5},
                      SchemeCase{"int4_gptq", QuantizationScheme::kInt4, true, 0.5},
                      SchemeCase{"dynamic_int8", QuantizationScheme::kDynamicInt8, false, 0.1},
                      SchemeCase{"static_int8", QuantizationScheme::kStaticInt8, false, 0.1},
                      SchemeCase{"fp16", QuantizationScheme::kFp16, false, 0.01}),
    name_of_test);

TEST_P(MultilingualSchemeTest, KeepsWhatTheModelThinksOfItsTranslations) {
  const fs::path tests = fs::path(kSourceFolder) / "tests/data";
  export_checkpoint(tests / "m2m100/checkpoint", folder_ / "fp32");
  QuantizeOptions options;
  options.scheme = GetParam().scheme;
  options.gptq = GetParam().gptq;
  if (options.gptq || options.scheme == QuantizationScheme::kStaticInt8) {
    options.calibration = tests / "corpus/calibration.en";
    options.calibration_lines = 12;
    options.target_language = "fr";
  }
  quantize_package(folder_ / "fp32", folder_ / "small", options);
  const Translator fp32 = Translator::load(folder_ / "fp32");
  const Translator small = Translator::load(folder_ / "small");
  const std::vector<std::string> sources = {"Hello.", "Where is Tom?"};
  for (const char* language : {"zh", "fr"}) {
    std::vector<std::string> targets;
    for (const Translation& translation : fp32.translate(sources, options_for(fp32, language)))
      targets.push_back(translation.text);
    EXPECT_NEAR(nats(small, sources, targets, language), nats(fp32, sources, targets, language),
                GetParam().most_nats)
        << language;
    EXPECT_EQ(small.translate(sources, options_for(small, language)).size(), sources.size());
  }
}

}  // namespace
}  // namespace sampan
