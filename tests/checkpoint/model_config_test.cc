#include "checkpoint/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/caught_error.h"

namespace sampan::checkpoint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A config.json with some more fields; a field that is given again replaces the first.
std::string config_with(const std::string& more, const std::string& model_type = "\"marian\"") {
  return R"({"model_type": )" + model_type + R"(, "d_model": 16, "encoder_attention_heads": 4,
    "decoder_attention_heads": 2, "encoder_layers": 3, "decoder_layers": 1, "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 24, "vocab_size": 50, "max_position_embeddings": 64, "pad_token_id": 49,
    "decoder_start_token_id": 49)" +
         (more.empty() ? "" : ", " + more) + "}";
}

ModelConfig parse(const std::string& text) { return parse_model_config(text, "dir/config.json"); }

Error error_of(const std::string& text) {
  return test::caught_error([&] { parse(text); });
}

TEST(ModelConfig, EncoderAndDecoderMayDiffer) {
  const ModelConfig config = parse(config_with(""));
  EXPECT_EQ(config.encoder_layers, 3);
  EXPECT_EQ(config.decoder_layers, 1);
  EXPECT_EQ(config.encoder_head_dim(), 4);
  EXPECT_EQ(config.decoder_head_dim(), 8);
  EXPECT_EQ(config.encoder_ffn_dim, 32);
  EXPECT_EQ(config.decoder_ffn_dim, 24);
}

// What MarianConfig of transformers 4.57.6 has for a config.json without these fields.
TEST(ModelConfig, AbsentFieldsTakeTransformersDefaults) {
  const ModelConfig config = parse(R"({"model_type": "marian"})");
  EXPECT_EQ(config.d_model, 1024);
  EXPECT_EQ(config.encoder_layers, 12);
  EXPECT_EQ(config.decoder_attention_heads, 16);
  EXPECT_EQ(config.encoder_ffn_dim, 4096);
  EXPECT_EQ(config.vocab_size, 58101);
  EXPECT_EQ(config.decoder_vocab_size, 58101);
  EXPECT_EQ(config.max_position_embeddings, 1024);
  EXPECT_EQ(config.activation_function, Activation::kGelu);
  EXPECT_FALSE(config.scale_embedding);
  EXPECT_TRUE(config.share_encoder_decoder_embeddings);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.pad_token_id, 58100);
  EXPECT_EQ(config.decoder_start_token_id, 58100);
  EXPECT_EQ(config.eos_token_id, std::vector<std::int64_t>{0});
  EXPECT_FALSE(config.bos_token_id.has_value());
}

TEST(ModelConfig, TargetVocabularyCountsOnlyWhenEmbeddingsAreSeparate) {
  const auto rows = [](const std::string& more) {
    return parse(config_with(more)).decoder_vocab_size;
  };
  const std::string separate = R"("share_encoder_decoder_embeddings": false)";
  EXPECT_EQ(rows(separate), 50);
  EXPECT_EQ(rows(separate + R"(, "decoder_vocab_size": null)"), 50);
  EXPECT_EQ(rows(separate + R"(, "decoder_vocab_size": 60)"), 60);
  EXPECT_EQ(rows(R"("decoder_vocab_size": 60)"), 50);
}

TEST(ModelConfig, ActivationsAreKnownUnderEveryNameOfTransformers) {
  const std::pair<const char*, Activation> cases[] = {
      {"swish", Activation::kSilu},         {"silu", Activation::kSilu},
      {"relu", Activation::kRelu},          {"gelu", Activation::kGelu},
      {"gelu_python", Activation::kGelu},   {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh}, {"gelu_pytorch_tanh", Activation::kGeluTanh}};
  for (const auto& [name, activation] : cases)
    EXPECT_EQ(parse(config_with(R"("activation_function": ")" + std::string(name) + "\""))
                  .activation_function,
              activation)
        << name;
}

TEST(ModelConfig, EndOfSentenceMayBeOneOrSeveral) {
  EXPECT_EQ(parse(config_with(R"("eos_token_id": 3)")).eos_token_id,
            (std::vector<std::int64_t>{3}));
  EXPECT_EQ(parse(config_with(R"("eos_token_id": [3, 7])")).eos_token_id,
            (std::vector<std::int64_t>{3, 7}));
}

TEST(ModelConfig, SecondNamesOfTransformersAreUnderstood) {
  const ModelConfig config =
      parse(R"({"model_type": "marian", "hidden_size": 32, "num_attention_heads": 2})");
  EXPECT_EQ(config.d_model, 32);
  EXPECT_EQ(config.encoder_attention_heads, 2);
  EXPECT_THAT(error_of(config_with(R"("hidden_size": 32)")).what(),
              AllOf(HasSubstr("d_model is 16"), HasSubstr("hidden_size is 32")));
}

// Bug that this holds off: published opus-mt files carry their vocabulary's size in
// extra_pos_embeddings, a field that nothing reads any more.
TEST(ModelConfig, FieldsOfPublishedFilesThatTransformersNeverReadsAreIgnored) {
  EXPECT_EQ(parse(config_with(R"("extra_pos_embeddings": 50, "add_bias_logits": true,
    "force_bos_token_to_be_generated": false, "_num_labels": 3, "id2label": {"0": "LABEL_0"},
    "normalize_before": false, "normalize_embedding": false, "add_final_layer_norm": false,
    "static_position_embeddings": true, "num_hidden_layers": 6, "classif_dropout": 0.0,
    "torch_dtype": "float16", "some_tool": {"of": ["its", "own"]})"))
                .d_model,
            16);
}

TEST(ModelConfig, FieldsThatWouldChangeTheOutputAreRefusedByNameAndValue) {
  const std::pair<const char*, const char*> cases[] = {
      {"is_encoder_decoder", "false"},
      {"is_decoder", "true"},
      {"tie_encoder_decoder", "true"},
      {"normalize_before", "true"},
      {"normalize_embedding", "true"},
      {"add_final_layer_norm", "true"},
      {"static_position_embeddings", "false"},
      {"pruned_heads", R"({"0":[1]})"},
      {"quantization_config", R"({"bits":4})"},
      {"auto_map", R"({"AutoModel":"code.Model"})"},
      {"sliding_window", "128"},
      {"attention_chunk_size", "64"},
      {"layer_types", R"(["full_attention"])"},
      {"num_kv_shared_layers", "2"},
      {"activation_function", R"("quick_gelu")"},
      {"architectures", R"(["MarianForCausalLM"])"},
  };
  for (const auto& [field, value] : cases) {
    const Error error = error_of(config_with("\"" + std::string(field) + "\": " + value));
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << field;
    EXPECT_THAT(error.what(), AllOf(HasSubstr("dir/config.json"), HasSubstr(field),
                                    HasSubstr(value), HasSubstr("not supported")));
  }
}

// What M2M100Config of transformers 4.57.6 has for a config.json without these fields.
TEST(ModelConfig, M2M100HasDefaultsOfItsOwn) {
  const ModelConfig config = parse(R"({"model_type": "m2m_100"})");
  EXPECT_EQ(config.vocab_size, 128112);
  EXPECT_EQ(config.decoder_vocab_size, 128112);
  EXPECT_EQ(config.max_position_embeddings, 1024);
  EXPECT_EQ(config.activation_function, Activation::kRelu);
  EXPECT_TRUE(config.scale_embedding);
  EXPECT_EQ(config.pad_token_id, 1);
  EXPECT_EQ(config.eos_token_id, std::vector<std::int64_t>{2});
  EXPECT_EQ(config.decoder_start_token_id, 2);
}

TEST(ModelConfig, M2M100IgnoresSwitchesThatItsClassesDoNotHave) {
  EXPECT_EQ(parse(config_with(R"("normalize_before": true, "add_final_layer_norm": true,
                                 "static_position_embeddings": false)",
                              "\"m2m_100\""))
                .model_type,
            "m2m_100");
}

TEST(ModelConfig, M2M100WithTwoVocabulariesIsRefused) {
  for (const char* more :
       {"\"share_encoder_decoder_embeddings\": false", "\"decoder_vocab_size\": 40"}) {
    const Error error = error_of(config_with(more, "\"m2m_100\""));
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
  }
}

TEST(ModelConfig, AnotherFamilyIsNamedTogetherWithWhatIsSupported) {
  const Error error = error_of(config_with("", "\"t5\""));
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("model_type \"t5\""), HasSubstr("marian")));
  EXPECT_EQ(error_of("{}").code(), ErrorCode::kInvalidData);
}

TEST(ModelConfig, WrongTypesAndAbsurdSizesAreRefusedByNameAndValue) {
  const std::pair<const char*, const char*> cases[] = {
      {"encoder_ffn_dim", "-1"},      {"decoder_ffn_dim", "1000000000000"},
      {"scale_embedding", "1"},       {"scale_embedding", "\"yes\""},
      {"eos_token_id", "\"0\""},      {"eos_token_id", "[0, 1.5]"},
      {"eos_token_id", "null"},       {"bos_token_id", "-2"},
      {"activation_function", "[]"},  {"decoder_vocab_size", "1e99"},
      {"normalize_before", "\"no\""}, {"architectures", "\"MarianMTModel\""},
      {"tie_word_embeddings", "null"}};
  for (const auto& [field, value] : cases) {
    std::string text = config_with("");
    const std::string name = "\"" + std::string(field) + "\": ";
    if (const std::size_t place = text.find(name); place != std::string::npos) {
      const std::size_t begin = place + name.size();
      text.replace(begin, text.find_first_of(",}", begin) - begin, value);
    } else {
      text = config_with(name + value);
    }
    const Error error = error_of(text);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << field << " " << value;
    EXPECT_THAT(error.what(), HasSubstr(field)) << value;
  }
  const Error layers = error_of(R"({"model_type": "marian", "encoder_layers": 1000000000})");
  EXPECT_THAT(layers.what(), HasSubstr("encoder_layers is 1000000000"));
  EXPECT_EQ(error_of(R"({"model_type": "marian", "max_position_embeddings": 16777216})").code(),
            ErrorCode::kInvalidData);
}

TEST(ModelConfig, ValuesThatContradictEachOtherAreRefused) {
  EXPECT_THAT(
      error_of(R"({"model_type": "marian", "d_model": 10, "encoder_attention_heads": 3})").what(),
      AllOf(HasSubstr("d_model 10"), HasSubstr("encoder_attention_heads 3")));
  EXPECT_THAT(error_of(R"({"model_type": "marian", "vocab_size": 100})").what(),
              HasSubstr("pad_token_id 58100 is outside the vocabulary of 100 entries"));
  EXPECT_THAT(error_of(config_with(R"("eos_token_id": 50)")).what(),
              HasSubstr("eos_token_id 50 is outside"));
  EXPECT_THAT(error_of(config_with(R"("eos_token_id": [])")).what(), HasSubstr("empty list"));
}

TEST(ModelConfig, TextThatIsNoJsonObjectGivesOneLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "is empty"},
      {"[]", "JSON object"},
      {"{\"d_model\": NaN}", "not valid JSON"},
      {"{\"d_model\": 1e999}", "out of range"},
      {"{\"d_model\": 1, \"d_model\": 2}", "appears twice"},
      {"{\"a\": \"\xff\"}", "not valid JSON"},
      {std::string(100'000, '['), "nested"},
      {"{\"model_type\": \"line\\nbreak\"}", "line\\nbreak"},
      {"<html>", "web page"},
      {"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"},
      {"<<<<<<< HEAD\nversion https://git-lfs.github.com/spec/v1\n", "merge conflicts"},
  };
  for (const auto& [text, message] : cases) {
    const std::string what = error_of(text).what();
    EXPECT_THAT(what, AllOf(HasSubstr("dir/config.json"), HasSubstr(message)));
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace sampan::checkpoint
