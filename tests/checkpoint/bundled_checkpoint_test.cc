#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "support/folders.h"

namespace sampan::checkpoint {
namespace {

std::vector<float> floats_of(const tensor::TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(*tensor::element_count(view.shape)));
  tensor::to_floats(view, values);
  return values;
}

class BundledCheckpoint : public ::testing::Test {
 protected:
  const Checkpoint checkpoint_ =
      open_checkpoint(std::string(kSourceFolder) + "/models/tatoeba-en-zh");
};

TEST_F(BundledCheckpoint, ConfigIsRead) {
  const ModelConfig& config = checkpoint_.config;
  EXPECT_EQ(config.model_type, "marian");
  EXPECT_EQ(config.d_model, 256);
  EXPECT_EQ(config.encoder_layers, 3);
  EXPECT_EQ(config.decoder_layers, 2);
  EXPECT_EQ(config.encoder_attention_heads, 4);
  EXPECT_EQ(config.decoder_ffn_dim, 1024);
  EXPECT_EQ(config.vocab_size, 9821);
  EXPECT_EQ(config.decoder_vocab_size, 9821);
  EXPECT_EQ(config.max_position_embeddings, 512);
  EXPECT_EQ(config.activation_function, Activation::kSilu);
  EXPECT_TRUE(config.scale_embedding);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.pad_token_id, 9820);
  EXPECT_EQ(config.decoder_start_token_id, 9820);
  EXPECT_EQ(config.eos_token_id, std::vector<std::int64_t>{0});
  EXPECT_EQ(config.bos_token_id, 0);
}

// Values read with the safetensors package for Python (0.7).
TEST_F(BundledCheckpoint, WeightsAreThoseThatWereWritten) {
  struct Golden {
    const char* name;
    tensor::DType dtype;
    tensor::Shape shape;
    float first, second, last;
    double sum, magnitude;
  };
  const Golden goldens[] = {
      {"final_logits_bias",
       tensor::DType::kF16,
       {1, 9821},
       0.04425048828125f,
       0.14501953125f,
       0.0f,
       -2072.2042375802994,
       2440.9486405849457},
      {"model.shared.weight",
       tensor::DType::kF16,
       {9821, 256},
       -0.00519561767578125f,
       -0.07867431640625f,
       0.0f,
       -13626.668137907982,
       145095.16015040874},
      {"model.decoder.embed_positions.weight",
       tensor::DType::kF32,
       {512, 256},
       0.0f,
       0.0f,
       0.9984927177429199f,
       34903.03112175654,
       80466.54604895573},
      {"model.decoder.layers.1.fc2.weight",
       tensor::DType::kF16,
       {256, 1024},
       0.0245819091796875f,
       0.061279296875f,
       0.05804443359375f,
       -4.064883232116699,
       11713.91765320301},
  };
  EXPECT_EQ(checkpoint_.weights.tensors().size(), 104u);
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.name);
    const tensor::TensorView* view = checkpoint_.weights.find(golden.name);
    ASSERT_NE(view, nullptr);
    EXPECT_EQ(view->dtype, golden.dtype);
    EXPECT_EQ(view->shape, golden.shape);
    const std::vector<float> values = floats_of(*view);
    EXPECT_EQ(values.front(), golden.first);
    EXPECT_EQ(values[1], golden.second);
    EXPECT_EQ(values.back(), golden.last);
    double sum = 0;
    double magnitude = 0;
    for (const float value : values) {
      sum += value;
      magnitude += std::abs(static_cast<double>(value));
    }
    EXPECT_NEAR(sum, golden.sum, 1e-6);
    EXPECT_NEAR(magnitude, golden.magnitude, 1e-6);
  }
}

TEST_F(BundledCheckpoint, FilesThatWereReadAreListed) {
  EXPECT_EQ(checkpoint_.files,
            (std::vector<std::filesystem::path>{"config.json", "model.safetensors"}));
}

}  // namespace
}  // namespace sampan::checkpoint
