#include "decode/generation_config_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "small_search.h"
#include "support/folders.h"

namespace sampan::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTokens =
    R"("decoder_start_token_id": 9, "pad_token_id": 9, "eos_token_id": 0)";

/// generation_config.json with `fields` beside its special tokens.
GenerationConfig parse(const std::string& fields) {
  const std::string text = std::string("{") + kTokens + (fields.empty() ? "" : ", ") + fields + "}";
  return parse_generation_config({"folder", text, std::nullopt});
}

/// Code and message of the error that a text gives.
std::pair<ErrorCode, std::string> refusal_of(const std::string& text) {
  std::string message;
  const ErrorCode code = error_code_of(
      [&] {
        parse_generation_config({"folder", text, std::nullopt});
      },
      &message);
  return {code, message};
}

std::pair<ErrorCode, std::string> refusal_of_fields(const std::string& fields) {
  return refusal_of(std::string("{") + kTokens + ", " + fields + "}");
}

TEST(GenerationConfigJson, ReadsTheBundledCheckpoint) {
  const GenerationConfig config =
      read_generation_config(std::string(kSourceFolder) + "/models/tatoeba-en-zh");
  EXPECT_EQ(config.num_beams, 4);
  EXPECT_EQ(config.max_length, 512);
  EXPECT_EQ(config.decoder_start_token_id, 9820);
  EXPECT_EQ(config.pad_token_id, 9820);
  EXPECT_THAT(config.eos_token_id, ElementsAre(0));
  EXPECT_THAT(config.forced_eos_token_id, ElementsAre(0));
  EXPECT_THAT(config.bad_words_ids, ElementsAre(ElementsAre(9820)));
  EXPECT_TRUE(config.renormalize_logits);
  EXPECT_FALSE(config.forced_bos_token_id.has_value());
  EXPECT_EQ(config.length_penalty, 1.0);
}

TEST(GenerationConfigJson, ReadsEveryFieldItHas) {
  const GenerationConfig config = parse(R"("num_beams": 5, "num_return_sequences": 2,
    "length_penalty": 0.6, "early_stopping": true, "max_length": 77, "max_new_tokens": 66,
    "min_length": 3, "min_new_tokens": 4, "do_sample": false, "temperature": 0.5, "top_k": 7,
    "top_p": 0.25, "no_repeat_ngram_size": 3, "repetition_penalty": 1.5,
    "bad_words_ids": [[1], [2, 3]], "suppress_tokens": [4, 5], "forced_bos_token_id": 6,
    "forced_eos_token_id": [0, 7], "renormalize_logits": true)");
  EXPECT_EQ(config.num_beams, 5);
  EXPECT_EQ(config.num_return_sequences, 2);
  EXPECT_EQ(config.length_penalty, 0.6);
  EXPECT_EQ(config.early_stopping, EarlyStopping::kTrue);
  EXPECT_EQ(config.max_length, 77);
  EXPECT_EQ(config.max_new_tokens, 66);
  EXPECT_EQ(config.min_length, 3);
  EXPECT_EQ(config.min_new_tokens, 4);
  EXPECT_EQ(config.temperature, 0.5);
  EXPECT_EQ(config.top_k, 7);
  EXPECT_EQ(config.top_p, 0.25);
  EXPECT_EQ(config.no_repeat_ngram_size, 3);
  EXPECT_EQ(config.repetition_penalty, 1.5);
  EXPECT_THAT(config.bad_words_ids, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  EXPECT_THAT(config.suppress_tokens, ElementsAre(4, 5));
  EXPECT_EQ(config.forced_bos_token_id, 6);
  EXPECT_THAT(config.forced_eos_token_id, ElementsAre(0, 7));
  EXPECT_TRUE(config.renormalize_logits);
  EXPECT_EQ(parse(R"("early_stopping": "never")").early_stopping, EarlyStopping::kNever);
  EXPECT_TRUE(parse(R"("do_sample": true)").do_sample);
}

TEST(GenerationConfigJson, TakesNullAsTheDefault) {
  const GenerationConfig config = parse(R"("num_beams": null, "max_length": null, "top_k": null,
    "forced_bos_token_id": null, "constraints": null, "something_new": null)");
  EXPECT_EQ(config.num_beams, 1);
  EXPECT_EQ(config.max_length, 512);
  EXPECT_EQ(config.top_k, 0);  // as transformers: no limit
}

TEST(GenerationConfigJson, PassesOverWhatDoesNotTouchTheOutput) {
  EXPECT_EQ(parse(R"("transformers_version": "4.30", "_from_model_config": true, "use_cache": false,
    "output_attentions": true, "output_scores": true, "return_dict_in_generate": true,
    "cache_implementation": "static", "num_assistant_tokens": 5, "_commit_hash": "00")")
                .num_beams,
            1);
}

TEST(GenerationConfigJson, TakesFeaturesItLacksAtTheirNeutralValues) {
  EXPECT_EQ(
      parse(R"("diversity_penalty": 0.0, "num_beam_groups": 1, "typical_p": 1.0, "min_p": null,
    "epsilon_cutoff": 0, "eta_cutoff": 0.0, "encoder_repetition_penalty": 1.0, "guidance_scale": 1,
    "encoder_no_repeat_ngram_size": 0, "remove_invalid_values": false, "token_healing": false,
    "penalty_alpha": 0, "begin_suppress_tokens": [])")
          .num_beams,
      1);
}

TEST(GenerationConfigJson, RefusesFeaturesItLacksByNameAndValue) {
  for (const std::string field : {R"("diversity_penalty": 0.5)",
                                  R"("num_beam_groups": 2)",
                                  R"("penalty_alpha": 0.6)",
                                  R"("constraints": [1])",
                                  R"("force_words_ids": [[1]])",
                                  R"("typical_p": 0.9)",
                                  R"("epsilon_cutoff": 0.1)",
                                  R"("eta_cutoff": 0.1)",
                                  R"("encoder_repetition_penalty": 1.2)",
                                  R"("encoder_no_repeat_ngram_size": 2)",
                                  R"("begin_suppress_tokens": [3])",
                                  R"("sequence_bias": [[[1], 0.5]])",
                                  R"("min_p": 0.1)",
                                  R"("watermarking_config": {})",
                                  R"("exponential_decay_length_penalty": [5, 1.1])",
                                  R"("remove_invalid_values": true)",
                                  R"("guidance_scale": 2.0)",
                                  R"("stop_strings": "x")",
                                  R"("max_time": 3.0)",
                                  R"("prompt_lookup_num_tokens": 3)",
                                  R"("a_field_of_tomorrow": 1)"}) {
    const auto [code, message] = refusal_of_fields(field);
    EXPECT_EQ(code, ErrorCode::kUnsupported) << field;
    EXPECT_THAT(message, HasSubstr(field.substr(1, field.find('"', 1) - 1)));
    EXPECT_THAT(message, HasSubstr("generation_config.json"));
  }
  EXPECT_THAT(refusal_of_fields(R"("diversity_penalty": 0.5)").second,
              HasSubstr("diversity_penalty is 0.5"));
  EXPECT_THAT(refusal_of_fields(R"("do_sample": true, "num_beams": 4)").second,
              HasSubstr("beam sampling"));
}

TEST(GenerationConfigJson, RefusesValuesOfTheWrongTypeByNameAndValue) {
  for (const std::string field :
       {R"("num_beams": "four")", R"("num_beams": 4.5)", R"("num_beams": true)",
        R"("num_beams": 18446744073709551615)", R"("length_penalty": "1")",
        R"("early_stopping": "always")", R"("early_stopping": 1)", R"("do_sample": 0)",
        R"("bad_words_ids": [1])", R"("bad_words_ids": 1)", R"("bad_words_ids": [["a"]])",
        R"("suppress_tokens": [1.5])", R"("forced_bos_token_id": [1])",
        R"("forced_eos_token_id": "x")", R"("num_beams": 0)", R"("bad_words_ids": [[]])",
        R"("max_length": 1)", R"("top_p": 7)"}) {
    const auto [code, message] = refusal_of_fields(field);
    EXPECT_EQ(code, ErrorCode::kInvalidData) << field;
    EXPECT_THAT(message, HasSubstr("generation_config.json")) << field;
  }
  EXPECT_THAT(refusal_of_fields(R"("num_beams": "four")").second,
              HasSubstr("num_beams is \"four\", a whole number is expected"));
}

TEST(GenerationConfigJson, ShowsLongValuesCut) {
  const auto [code, message] =
      refusal_of_fields(R"("num_beams": ")" + std::string(100000, 'x') + R"(")");
  EXPECT_EQ(code, ErrorCode::kInvalidData);
  EXPECT_LT(message.size(), 300U);
}

TEST(GenerationConfigJson, RefusesTextThatIsNoObject) {
  for (const std::string text : {"", "[]", "nonsense", "{\"num_beams\": ", "\xff\xfe", "null",
                                 "<html>", "{\"eos_token_id\": NaN}"}) {
    EXPECT_EQ(refusal_of(text).first, ErrorCode::kInvalidData) << text;
  }
  EXPECT_EQ(refusal_of(std::string(200000, '[')).first, ErrorCode::kInvalidData);
}

TEST(GenerationConfigJson, NeedsAStartAndAnEnd) {
  EXPECT_THAT(refusal_of(R"({"decoder_start_token_id": 5})").second, HasSubstr("eos_token_id"));
  EXPECT_THAT(refusal_of(R"({"eos_token_id": 5})").second, HasSubstr("decoder_start_token_id"));
  const GenerationConfig config = parse_generation_config(
      {"f", R"({"eos_token_id": [5, 6], "bos_token_id": 3})", std::nullopt});
  EXPECT_EQ(config.decoder_start_token_id, 3);
  EXPECT_EQ(config.pad_token_id, 5);
}

TEST(GenerationConfigJson, TakesConfigJsonWhereTheOtherFileIsAbsent) {
  const GenerationConfig marian = parse_generation_config(
      {"f", std::nullopt, R"({"model_type": "marian", "num_beams": 6, "d_model": 512,
                              "decoder_start_token_id": 9, "some_field": [1], "max_length": 99})"});
  EXPECT_EQ(marian.num_beams, 6);
  EXPECT_EQ(
      parse_generation_config({"f", "{}", R"({"model_type": "marian", "num_beams": 3})"}).num_beams,
      3);
  EXPECT_EQ(marian.max_length, 99);
  EXPECT_EQ(marian.decoder_start_token_id, 9);
  EXPECT_EQ(marian.pad_token_id, 58100);  // what MarianConfig has where the file is silent
  EXPECT_THAT(marian.eos_token_id, ElementsAre(0));
  EXPECT_THAT(marian.forced_eos_token_id, ElementsAre(0));
  const GenerationConfig m2m100 =
      parse_generation_config({"f", std::nullopt, R"({"model_type": "m2m_100"})"});
  EXPECT_EQ(m2m100.decoder_start_token_id, 2);
  EXPECT_THAT(m2m100.eos_token_id, ElementsAre(2));
  EXPECT_EQ(error_code_of([] {
              parse_generation_config(
                  {"f", std::nullopt, R"({"model_type": "marian", "num_beam_groups": 2})"});
            }),
            ErrorCode::kUnsupported);
}

TEST(GenerationConfigJson, ConfigJsonOverrulesAFileDerivedFromIt) {
  const std::string derived =
      std::string("{\"_from_model_config\": true, \"num_beams\": 2, ") + kTokens + "}";
  const std::string model =
      R"({"model_type": "marian", "num_beams": 6, "decoder_start_token_id": 9})";
  EXPECT_EQ(parse_generation_config({"f", derived, model}).num_beams, 6);
  // Not so where it sets nothing of generation, or the file stands for itself.
  EXPECT_EQ(parse_generation_config({"f", derived, R"({"model_type": "marian"})"}).num_beams, 2);
  EXPECT_EQ(
      parse_generation_config({"f", std::string("{\"num_beams\": 2, ") + kTokens + "}", model})
          .num_beams,
      2);
}

TEST(GenerationConfigJson, NamesAFolderWithNeitherFile) {
  std::string message;
  EXPECT_EQ(error_code_of([] { read_generation_config("/nonexistent/folder"); }, &message),
            ErrorCode::kNotFound);
  EXPECT_THAT(message, HasSubstr("/nonexistent/folder"));
}

}  // namespace
}  // namespace sampan::decode
