#include "session/graph_runner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sampan/error.h"
#include "session/packages.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::session {
namespace {

using package::GraphRole;

NamedTensor ids(std::string name, std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {std::move(name), {1, count}, std::move(values)};
}

const std::vector<std::string> kStates = {"last_hidden_state"};

TEST(GraphRunner, RunsAFileAndTheSameBytesAlike) {
  const auto file = fixture_package("merged").graphs.at(GraphRole::kEncoder);
  const std::string bytes = test::content_of(file);
  const std::vector<NamedTensor> inputs = {ids("input_ids", {3, 4, 0}),
                                           ids("attention_mask", {1, 1, 1})};
  const auto from_file = GraphRunner(file, {}).run(inputs, kStates);
  const auto from_bytes =
      GraphRunner(std::as_bytes(std::span(bytes)), "encoder", {}).run(inputs, kStates);
  ASSERT_EQ(from_file.size(), 1U);
  EXPECT_EQ(from_file[0].name, "last_hidden_state");
  EXPECT_EQ(from_file[0].shape[1], 3);
  EXPECT_EQ(from_file[0].data, from_bytes.at(0).data);
  EXPECT_EQ(std::get<std::vector<float>>(from_file[0].data).size(),
            static_cast<std::size_t>(from_file[0].shape[1] * from_file[0].shape[2]));
}

TEST(GraphRunner, RefusesDataThatIsNotOfItsShape) {
  const GraphRunner runner(fixture_package("merged").graphs.at(GraphRole::kEncoder), {});
  NamedTensor wrong = ids("input_ids", {3, 4, 0});
  wrong.shape = {1, 4};
  const std::vector<NamedTensor> inputs = {wrong, ids("attention_mask", {1, 1, 1, 1})};
  const Error error = test::caught_error([&] { runner.run(inputs, kStates); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(std::string(error.what()).find("[1, 4]"), std::string::npos) << error.what();
}

TEST(GraphRunner, NamesTheAxesOfInputs) {
  const GraphRunner runner(fixture_package("merged").graphs.at(GraphRole::kEncoder), {});
  const ValueSignature* ids = runner.signature().input("input_ids");
  ASSERT_NE(ids, nullptr);
  EXPECT_EQ(ids->dims, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(ids->axes, (std::vector<std::string>{"batch_size", "encoder_sequence_length"}));
}

TEST(GraphRunner, NamesBytesThatAreNoModel) {
  const std::string bytes = "no model";
  const Error error = test::caught_error(
      [&] { GraphRunner(std::as_bytes(std::span(bytes)), "the cut graph", {}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidData);
  EXPECT_TRUE(std::string(error.what()).starts_with("the cut graph: ")) << error.what();
}

}  // namespace
}  // namespace sampan::session
