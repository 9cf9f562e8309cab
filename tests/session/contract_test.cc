// Graphs that do not keep the contract are refused with the file, the value and what was expected.
#include "session/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "support/caught_error.h"

namespace sampan::session {
namespace {

using test::caught_error;
using testing::HasSubstr;

void add_cache(std::vector<ValueSignature>& values, const std::string& prefix,
               const std::string& side) {
  for (const char* layer : {"0", "1"})
    for (const char* part : {"key", "value"})
      values.push_back({prefix + layer + "." + side + "." + part, "float32", {-1, 2, -1, 4}});
}

GraphSignature encoder() {
  return {"pkg/encoder_model.onnx",
          {{"input_ids", "int64", {-1, -1}}, {"attention_mask", "int64", {-1, -1}}},
          {{"last_hidden_state", "float32", {-1, -1, 8}}}};
}

GraphSignature first_decoder() {
  GraphSignature graph{"pkg/decoder_model.onnx",
                       {{"encoder_attention_mask", "int64", {-1, -1}},
                        {"input_ids", "int64", {-1, -1}},
                        {"encoder_hidden_states", "float32", {-1, -1, 8}}},
                       {{"logits", "float32", {-1, -1, 37}}}};
  add_cache(graph.outputs, "present.", "decoder");
  add_cache(graph.outputs, "present.", "encoder");
  return graph;
}

GraphSignature next_decoder() {
  GraphSignature graph{
      "pkg/decoder_with_past_model.onnx",
      {{"encoder_attention_mask", "int64", {-1, -1}}, {"input_ids", "int64", {-1, -1}}},
      {{"logits", "float32", {-1, -1, 37}}}};
  add_cache(graph.inputs, "past_key_values.", "decoder");
  add_cache(graph.inputs, "past_key_values.", "encoder");
  add_cache(graph.outputs, "present.", "decoder");
  return graph;
}

GraphSignature merged_decoder() {
  GraphSignature graph = first_decoder();
  graph.file = "pkg/decoder_model_merged.onnx";
  add_cache(graph.inputs, "past_key_values.", "decoder");
  add_cache(graph.inputs, "past_key_values.", "encoder");
  graph.inputs.push_back({"use_cache_branch", "bool", {1}});
  return graph;
}

ValueSignature& value(std::vector<ValueSignature>& values, const std::string& name) {
  return *std::ranges::find(values, name, &ValueSignature::name);
}

void remove(std::vector<ValueSignature>& values, const std::string& name) {
  std::erase_if(values, [&](const ValueSignature& item) { return item.name == name; });
}

void expect_refused(const GraphSignature& first, const GraphSignature& next,
                    const std::string& message) {
  const Error error = caught_error([&] { read_decoder_contract(first, next); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_THAT(error.what(), HasSubstr(message));
}

TEST(Contract, reads_sizes_and_names_in_any_order) {
  GraphSignature next = next_decoder();
  std::ranges::reverse(next.inputs);
  const DecoderContract contract = read_decoder_contract(first_decoder(), next);
  EXPECT_EQ(contract.vocab_size, 37);
  ASSERT_EQ(contract.self_attention.size(), 4U);
  ASSERT_EQ(contract.cross_attention.size(), 4U);
  EXPECT_EQ(contract.self_attention.front().past, "past_key_values.1.decoder.value");
  EXPECT_EQ(contract.self_attention.front().present, "present.1.decoder.value");
  EXPECT_EQ(contract.cross_attention.front().heads, 2);
  EXPECT_EQ(contract.cross_attention.front().head_dim, 4);
  EXPECT_TRUE(contract.first.encoder_hidden_states);
  EXPECT_FALSE(contract.first.past);
  EXPECT_FALSE(contract.next.encoder_hidden_states);
  EXPECT_TRUE(contract.next.past);
}

TEST(Contract, merged_decoder_serves_both_kinds_of_step) {
  const GraphSignature merged = merged_decoder();
  const DecoderContract contract = read_decoder_contract(merged, merged);
  EXPECT_TRUE(contract.first.use_cache_branch && contract.next.use_cache_branch);
  EXPECT_TRUE(contract.first.past && contract.next.encoder_hidden_states);
}

TEST(Contract, decoder_with_past_may_still_take_the_encoders_states) {
  GraphSignature next = next_decoder();
  next.inputs.push_back({"encoder_hidden_states", "float32", {-1, -1, 8}});
  EXPECT_TRUE(read_decoder_contract(first_decoder(), next).next.encoder_hidden_states);
}

TEST(Contract, further_outputs_are_left_alone) {
  GraphSignature first = first_decoder();
  first.outputs.push_back({"cross_attentions.0", "float32", {-1, 2, -1, -1}});
  EXPECT_NO_THROW(read_decoder_contract(first, next_decoder()));
}

TEST(Contract, encoder_of_the_contract_is_accepted_and_others_are_named) {
  EXPECT_NO_THROW(check_encoder(encoder()));
  GraphSignature graph = encoder();
  value(graph.inputs, "input_ids").dims = {1, -1};
  EXPECT_THAT(caught_error([&] { check_encoder(graph); }).what(),
              HasSubstr("pkg/encoder_model.onnx: input 'input_ids' is int64 [1, ?], expected int64 "
                        "[?, ?]; export the package again"));
  graph = encoder();
  graph.inputs.push_back({"position_ids", "int64", {-1, -1}});
  EXPECT_THAT(caught_error([&] { check_encoder(graph); }).what(),
              HasSubstr("input 'position_ids' (int64 [?, ?]) is not one of"));
  graph = encoder();
  graph.outputs.front().name = "hidden";
  EXPECT_THAT(caught_error([&] { check_encoder(graph); }).what(),
              HasSubstr("output 'last_hidden_state' is missing, expected float32 [?, ?, ?]"));
}

TEST(Contract, missing_and_unknown_inputs_are_refused) {
  GraphSignature first = first_decoder();
  remove(first.inputs, "encoder_hidden_states");
  expect_refused(first, next_decoder(), "input 'encoder_hidden_states' is missing");
  GraphSignature next = next_decoder();
  remove(next.inputs, "encoder_attention_mask");
  expect_refused(first_decoder(), next, "input 'encoder_attention_mask' is missing");
  next = next_decoder();
  next.inputs.push_back({"cache_position", "int64", {-1}});
  expect_refused(first_decoder(), next, "input 'cache_position' (int64 [?]) is not one of");
  next = next_decoder();
  next.inputs.push_back({"past_key_values.0.key", "float32", {-1, 2, -1, 4}});
  expect_refused(first_decoder(), next, "input 'past_key_values.0.key'");
}

TEST(Contract, half_precision_and_narrow_ids_are_refused) {
  GraphSignature first = first_decoder();
  value(first.outputs, "logits").dtype = "float16";
  expect_refused(first, next_decoder(), "output 'logits' is float16 [?, ?, 37]");
  GraphSignature next = next_decoder();
  value(next.inputs, "input_ids").dtype = "int32";
  expect_refused(first_decoder(), next, "input 'input_ids' is int32 [?, ?], expected int64");
}

TEST(Contract, fixed_batches_and_lengths_are_refused) {
  GraphSignature next = next_decoder();
  value(next.inputs, "past_key_values.1.encoder.key").dims = {-1, 2, 16, 4};
  expect_refused(first_decoder(), next,
                 "pkg/decoder_with_past_model.onnx: input 'past_key_values.1.encoder.key' is "
                 "float32 [?, 2, 16, 4], expected float32 [?, ?, ?, ?]");
}

TEST(Contract, cache_that_one_graph_lacks_is_refused) {
  GraphSignature first = first_decoder();
  remove(first.outputs, "present.1.encoder.value");
  expect_refused(first, next_decoder(),
                 "pkg/decoder_model.onnx: output 'present.1.encoder.value' is missing");
  GraphSignature next = next_decoder();
  remove(next.outputs, "present.0.decoder.key");
  expect_refused(first_decoder(), next, "output 'present.0.decoder.key' is missing");
  next = next_decoder();
  std::erase_if(next.inputs, [](const auto& item) { return item.name.starts_with("past"); });
  expect_refused(first_decoder(), next, "no inputs 'past_key_values.N.decoder.key'");
}

TEST(Contract, graphs_of_different_models_are_refused) {
  GraphSignature next = next_decoder();
  value(next.inputs, "past_key_values.0.decoder.key").dims = {-1, 2, -1, 8};
  expect_refused(first_decoder(), next, "axis 3 is 8 elsewhere");
  next = next_decoder();
  value(next.outputs, "logits").dims = {-1, -1, 40};
  expect_refused(first_decoder(), next, "axis 2 is 37 elsewhere");
}

TEST(Contract, graphs_in_each_others_place_are_refused) {
  expect_refused(merged_decoder(), next_decoder(), "a decoder for the first step takes no");
  expect_refused(first_decoder(), merged_decoder(), "'use_cache_branch' (bool [1]) belongs to");
  GraphSignature merged = merged_decoder();
  remove(merged.inputs, "use_cache_branch");
  expect_refused(merged, merged, "'use_cache_branch' (bool [1]) belongs to");
}

TEST(Contract, merged_decoder_must_tell_the_shape_of_an_empty_cache) {
  GraphSignature merged = merged_decoder();
  value(merged.inputs, "past_key_values.0.decoder.key").dims = {-1, -1, -1, 4};
  value(merged.outputs, "present.0.decoder.key").dims = {-1, -1, -1, 4};
  expect_refused(merged, merged, "does not tell heads and head_dim");
}

TEST(Contract, vocabulary_must_be_a_number) {
  GraphSignature first = first_decoder();
  GraphSignature next = next_decoder();
  value(first.outputs, "logits").dims = value(next.outputs, "logits").dims = {-1, -1, -1};
  expect_refused(first, next, "does not tell the size of the vocabulary");
}

}  // namespace
}  // namespace sampan::session
