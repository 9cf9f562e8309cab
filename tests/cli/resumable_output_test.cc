#include "cli/resumable_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "cli/interrupt.h"
#include "sampan/error.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::content_of;
using test::TemporaryFolder;

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ResumableOutputTest : public ::testing::Test {
 protected:
  std::unique_ptr<ResumableOutput> open(bool resume,
                                        const RunSettings& settings = {{"num_beams", "4"}}) {
    return std::make_unique<ResumableOutput>(file_, settings, resume, interrupt_);
  }
  // A run that wrote two blocks and was interrupted.
  void leave_interrupted() {
    auto output = open(false);
    output->write({"ONE\nTWO\n", "one\ntwo\n", 2});
    output->write({"THREE\n", "three\n", 1});
  }
  std::size_t skip(ResumableOutput& output, const std::string& input) {
    LineReader reader({folder_.write("input", input)}, interrupt_);
    const std::size_t skipped = output.skip_done_lines(reader);
    InputLine line;
    if (reader.next(line, true) == LineReader::Status::kLine) next_line_ = line.text;
    return skipped;
  }
  std::string refusal(ErrorCode code, const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "out.txt";
  fs::path partial_ = folder_ / "out.txt.partial";
  fs::path journal_ = folder_ / "out.txt.partial.journal";
  Interrupt interrupt_;
  std::string next_line_;
};

TEST_F(ResumableOutputTest, AppearsWholeAtTheEnd) {
  folder_.write("out.txt", "old");
  auto output = open(false);
  output->write({"ONE\n", "one\n", 1});
  EXPECT_EQ(content_of(file_), "old");
  output->finish();
  output.reset();
  EXPECT_EQ(content_of(file_), "ONE\n");
  EXPECT_FALSE(fs::exists(partial_));
  EXPECT_FALSE(fs::exists(journal_));
}

TEST_F(ResumableOutputTest, LeavesNothingOfARunThatWroteNothing) {
  open(false).reset();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ResumableOutputTest, ContinuesWhereAnInterruptedRunEnded) {
  leave_interrupted();
  EXPECT_FALSE(fs::exists(file_));
  auto output = open(true);
  EXPECT_EQ(skip(*output, "one\ntwo\nthree\nfour\n"), 3u);
  EXPECT_EQ(next_line_, "four");
  output->write({"FOUR\n", "four\n", 1});
  output->finish();
  EXPECT_EQ(content_of(file_), "ONE\nTWO\nTHREE\nFOUR\n");
}

TEST_F(ResumableOutputTest, ContinuesAgainAndAgain) {
  leave_interrupted();
  {
    auto output = open(true);
    EXPECT_EQ(skip(*output, "one\ntwo\nthree\nfour\nfive"), 3u);
    output->write({"FOUR\n", "four\n", 1});
  }
  auto output = open(true);
  EXPECT_EQ(skip(*output, "one\ntwo\nthree\nfour\nfive"), 4u);
  EXPECT_EQ(next_line_, "five");
}

TEST_F(ResumableOutputTest, StartsAtTheBeginningWhereThereIsNothingToResume) {
  auto output = open(true);
  EXPECT_EQ(skip(*output, "one\n"), 0u);
  EXPECT_EQ(next_line_, "one");
}

TEST_F(ResumableOutputTest, DoesNotOverwriteAnInterruptedRun) {
  leave_interrupted();
  EXPECT_THAT(refusal(ErrorCode::kAlreadyExists, [&] { open(false); }), HasSubstr("--resume"));
  EXPECT_EQ(content_of(partial_), "ONE\nTWO\nTHREE\n");
}

TEST_F(ResumableOutputTest, RefusesOtherSettings) {
  leave_interrupted();
  EXPECT_THAT(refusal(ErrorCode::kInvalidArgument,
                      [&] {
                        open(true, {{"num_beams", "1"}});
                      }),
              HasSubstr("was made with num_beams 4, not 1"));
}

TEST_F(ResumableOutputTest, RefusesAnotherInput) {
  leave_interrupted();
  auto output = open(true);
  EXPECT_THAT(
      refusal(ErrorCode::kInvalidArgument, [&] { skip(*output, "one\nzwei\nthree\nfour\n"); }),
      HasSubstr("not the same between lines 1 and 3"));
  output = nullptr;
  output = open(true);
  EXPECT_THAT(refusal(ErrorCode::kInvalidArgument, [&] { skip(*output, "one\n"); }),
              HasSubstr("the input ends at line 1"));
}

TEST_F(ResumableOutputTest, RefusesToWriteBesideAnotherRun) {
  leave_interrupted();
  const auto first = open(true);
  EXPECT_THAT(refusal(ErrorCode::kAlreadyExists, [&] { open(true); }), HasSubstr("another run"));
  // A run that starts anew advised to remove the file that the first one was writing.
  EXPECT_THAT(refusal(ErrorCode::kAlreadyExists, [&] { open(false); }), HasSubstr("another run"));
}

TEST_F(ResumableOutputTest, CutsOffWhatIsBehindTheLastCheckpoint) {
  leave_interrupted();
  std::ofstream(partial_, std::ios::app) << "FOU";
  std::ofstream(journal_, std::ios::app) << R"({"bytes":99,"li)";
  auto output = open(true);
  EXPECT_EQ(skip(*output, "one\ntwo\nthree\nfour\n"), 3u);
  EXPECT_EQ(content_of(partial_), "ONE\nTWO\nTHREE\n");
}

TEST_F(ResumableOutputTest, GoesBackToWhatTheDiskKept) {
  leave_interrupted();
  fs::resize_file(partial_, 5);
  auto output = open(true);
  EXPECT_EQ(skip(*output, "one\ntwo\nthree\n"), 0u);
  EXPECT_EQ(next_line_, "one");
  EXPECT_EQ(fs::file_size(partial_), 0u);
}

TEST_F(ResumableOutputTest, RefusesADamagedJournal) {
  for (const char* journal :
       {"", "{}\n", "not json\n", "{\"format\":2,\"settings\":{}}\n",
        "{\"format\":1,\"settings\":{\"a\":1}}\n", "{\"format\":1,\"settings\":{}}\n[]\n"}) {
    folder_.write("out.txt.partial", "ONE\n");
    folder_.write("out.txt.partial.journal", journal);
    EXPECT_THAT(refusal(ErrorCode::kInvalidData, [&] { open(true, {}); }), HasSubstr("damaged"))
        << journal;
  }
  fs::remove(journal_);
  refusal(ErrorCode::kNotFound, [&] { open(true, {}); });
}

TEST_F(ResumableOutputTest, ReplacesTheFileBehindALink) {
  folder_.write("real.txt", "old");
  fs::create_symlink("real.txt", file_);
  auto output = open(false);
  output->write({"ONE\n", "one\n", 1});
  output->finish();
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_EQ(content_of(folder_ / "real.txt"), "ONE\n");
}

TEST_F(ResumableOutputTest, LeavesNothingBesideAFolderThatIsNotThere) {
  file_ = folder_ / "absent" / "out.txt";
  refusal(ErrorCode::kNotFound, [&] { open(false); });
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace sampan::cli
