#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "sampan/error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::TemporaryFolder;

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kCheckpoint = std::string(kSourceFolder) + "/models/tatoeba-en-zh";

class ExportTest : public ::testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& more, const std::string& checkpoint = kCheckpoint) {
    std::vector<std::string> arguments = {"export", checkpoint, "--output", output_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }

  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }

  TemporaryFolder folder_;
  fs::path output_ = folder_.path() / "package";
};

TEST_F(ExportTest, IsSilentUnlessAskedToTell) {
  const Outcome silent = run({});
  EXPECT_EQ(silent.status, 0) << silent.err;
  EXPECT_EQ(silent.out + silent.err, "");
  const Outcome verbose = run({"--verbose", "--force", "--layout", "separate", "--opset", "14"});
  EXPECT_EQ(verbose.status, 0);
  EXPECT_EQ(verbose.out, "");
  for (const char* line : {"encoder layer 0", "decoder layer 1", "wrote onnx/encoder_model.onnx: "})
    EXPECT_THAT(verbose.err, HasSubstr(line));
}

TEST_F(ExportTest, EndsWithOneLineAndTheCodeOfTheError) {
  const fs::path empty = folder_.path() / "empty";
  fs::create_directory(empty);
  const struct {
    std::vector<std::string> arguments;
    std::string checkpoint;
    ErrorCode code;
  } cases[] = {
      {{"--opset", "19"}, kCheckpoint, ErrorCode::kInvalidArgument},
      {{"--layout", "flat"}, kCheckpoint, ErrorCode::kInvalidArgument},
      {{"--speed"}, kCheckpoint, ErrorCode::kInvalidArgument},
      {{}, (folder_.path() / "none").string(), ErrorCode::kNotFound},
      {{}, empty.string(), ErrorCode::kNotFound},
  };
  for (const auto& c : cases) {
    const Outcome outcome = run(c.arguments, c.checkpoint);
    EXPECT_EQ(outcome.status, exit_code(c.code)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+; [^\n]+\n"));
    EXPECT_FALSE(fs::exists(output_));
  }
}

// An output that the system refuses to look at was called the checkpoint's own folder, and an empty
// one a fault of the program.
TEST_F(ExportTest, TakesNoOutputThatCannotBe) {
  const fs::path circle = folder_.path() / "circle";
  fs::create_symlink(circle, circle);
  for (const std::string& output :
       {std::string(), circle.string(), (folder_.path() / std::string(300, 'x')).string()}) {
    const Outcome outcome = run_program({"export", kCheckpoint, "--output", output});
    EXPECT_EQ(outcome.status, exit_code(ErrorCode::kInvalidArgument)) << output;
    EXPECT_THAT(outcome.err, MatchesRegex("sampan: error: [^\n]+; [^\n]+\n"));
    EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("the checkpoint lies in it")));
  }
}

TEST_F(ExportTest, SaysHowToReplaceAPackage) {
  ASSERT_EQ(run({}).status, 0);
  const Outcome again = run({});
  EXPECT_EQ(again.status, exit_code(ErrorCode::kAlreadyExists));
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(run({"--force"}).status, 0);
  EXPECT_EQ(entries(), 1);
}

// The signal comes at some moment of the export, or just after it.
TEST_F(ExportTest, ASignalLeavesAWholePackageOrNothing) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"export", kCheckpoint, "--output", output_.string()}, {});
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (entries() == 0 && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.send(signal);
    const Outcome outcome = program.wait();
    if (outcome.status == 0) {
      EXPECT_EQ(entries(), 1);
      fs::remove_all(output_);
    } else {
      EXPECT_EQ(outcome.status, 128 + signal);
      EXPECT_THAT(outcome.err, MatchesRegex("sampan: stopped by [^\n]+; nothing was written\n"));
    }
    EXPECT_EQ(entries(), 0);
  }
}

}  // namespace
}  // namespace sampan::cli
