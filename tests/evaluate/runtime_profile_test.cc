#include "evaluate/runtime_profile.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sampan/error.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::evaluate {
namespace {

// One event of a trace; times in microseconds.
std::string node(std::string_view name, std::string_view op, int start, int duration) {
  return R"({"cat": "Node", "tid": 1, "ts": )" + std::to_string(start) + R"(, "dur": )" +
         std::to_string(duration) + R"(, "ph": "X", "name": ")" + std::string(name) +
         R"(_kernel_time", "args": {"op_name": ")" + std::string(op) +
         R"(", "input_type_shape": [{"float": [1, 2]}], "name": "other", "dur": 99}})";
}

constexpr std::string_view kRun =
    R"({"cat": "Session", "tid": 1, "ts": 0, "dur": 1000, "ph": "X", "name": "model_run", "args": {}})";

RuntimeProfile profile_of(const std::string& trace) {
  RuntimeProfile profile;
  add_trace(trace, "encoder_model", profile);
  return profile;
}

TEST(RuntimeProfile, SumsTheNodesByOperator) {
  const RuntimeProfile profile =
      profile_of("[" + std::string(kRun) + ",\n" + node("a", "MatMul", 10, 100) + ",\n" +
                 node("b", "Add", 110, 20) + ",\n" + node("c", "MatMul", 130, 300) + "]");
  EXPECT_NEAR(profile.run_seconds, 1000e-6, 1e-12);
  ASSERT_EQ(profile.operators.size(), 2u);
  EXPECT_EQ(profile.operators.at("MatMul").calls, 2);
  EXPECT_NEAR(profile.operators.at("MatMul").seconds, 400e-6, 1e-12);
  EXPECT_NEAR(profile.nodes.at({"encoder_model", "c"}).seconds, 300e-6, 1e-12);
  EXPECT_FALSE(profile.cut_short);
}

TEST(RuntimeProfile, CountsTimeInsideAnIfOnce) {
  const RuntimeProfile profile =
      profile_of("[" + node("inner1", "MatMul", 20, 50) + "," + node("inner2", "MatMul", 70, 30) +
                 "," + node("branch", "If", 10, 100) + "," + node("after", "Add", 110, 5) + "]");
  EXPECT_NEAR(profile.operators.at("If").seconds, 20e-6, 1e-12);
  EXPECT_NEAR(profile.operators.at("MatMul").seconds, 80e-6, 1e-12);
  EXPECT_NEAR(profile.operators.at("Add").seconds, 5e-6, 1e-12);
}

TEST(RuntimeProfile, RefusesWhatIsNoTrace) {
  for (const char* text : {"", "{}", "[{\"cat\": \"Node\"", "[{\"dur\": -1}]", "\xff", "[1, 2",
                           "[{\"dur\": 18446744073709551615}]"}) {
    const Error error = test::caught_error([&] { profile_of(text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidData) << text;
  }
}

TEST(RuntimeProfile, ReadsEveryTraceOfAFolder) {
  const test::TemporaryFolder folder;
  folder.write("encoder_model.profile_1.json", "[" + node("a", "MatMul", 0, 10) + "]");
  folder.write("decoder_model.profile_1.json", "[" + node("a", "MatMul", 0, 20) + "]");
  const RuntimeProfile profile = read_profile(folder.path());
  EXPECT_EQ(profile.operators.at("MatMul").calls, 2);
  EXPECT_NEAR(profile.nodes.at({"decoder_model", "a"}).seconds, 20e-6, 1e-12);
}

TEST(RuntimeProfile, TellsWhenTheRuntimeLeftNone) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::caught_error([&] { read_profile(folder.path()); }).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sampan::evaluate
