// M2M100 in every optimised form: a model that normalises first, and whose positions start behind
// the padding's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sampan/exporter.h"
#include "sampan/optimizer.h"
#include "sampan/translator.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan {
namespace {

using Tokens = std::vector<std::int64_t>;

class M2M100FormTest : public testing::Test {
 protected:
  M2M100FormTest() {
    export_checkpoint(std::string(kSourceFolder) + "/tests/data/m2m100/checkpoint", portable_);
  }

  void optimize(OptimizedWeights weights, OptimizedFor optimized_for = OptimizedFor::kLatency) {
    OptimizeOptions options;
    options.weights = weights;
    options.optimized_for = optimized_for;
    options.force = true;
    optimize_package(portable_, optimized_, options);
  }

  /// Token ids of translations into Chinese.
  static std::vector<Tokens> translate(const std::filesystem::path& folder, std::int64_t beams,
                                       std::size_t batch_size) {
    LoadOptions load;
    load.threads = 1;
    const Translator translator = Translator::load(folder, load);
    TranslateOptions options = translator.default_options();
    options.target_language = "zh";
    options.generation.num_beams = beams;
    options.generation.no_repeat_ngram_size = 2;
    options.generation.max_new_tokens = 24;
    options.batch_size = batch_size;
    const std::vector<std::string> lines = {"Hello.", "I have never seen such a big dog before!",
                                            "x", "Where is Tom? 1,234 - ok"};
    std::vector<Tokens> tokens;
    for (const Translation& translation : translator.translate(lines, options))
      tokens.push_back(translation.tokens);
    return tokens;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path portable_ = folder_ / "portable";
  const std::filesystem::path optimized_ = folder_ / "optimized";
};

TEST_F(M2M100FormTest, fp32_translates_as_the_portable_package) {
  optimize(OptimizedWeights::kFloat32);
  for (const std::int64_t beams : {1, 4})
    EXPECT_EQ(translate(optimized_, beams, 32), translate(portable_, beams, 32)) << beams;
}

TEST_F(M2M100FormTest, translates_a_batch_as_one_by_one) {
  for (const OptimizedWeights weights : {OptimizedWeights::kFloat32, OptimizedWeights::kInt8}) {
    optimize(weights, OptimizedFor::kThroughput);
    for (const std::int64_t beams : {1, 4})
      EXPECT_EQ(translate(optimized_, beams, 32), translate(optimized_, beams, 1))
          << static_cast<int>(weights) << ", beams " << beams;
  }
}

// This checkpoint has 40 units in the decoder's feed-forward layers.
TEST_F(M2M100FormTest, refuses_blocks_that_do_not_fit_the_model) {
  for (const OptimizedWeights weights : {OptimizedWeights::kInt8, OptimizedWeights::kInt4}) {
    const Error error = test::caught_error([&] { optimize(weights); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("layers.0.fc2' has rows of 40"));
    EXPECT_FALSE(std::filesystem::exists(optimized_));
  }
}

}  // namespace
}  // namespace sampan
