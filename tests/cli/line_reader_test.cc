#include "cli/line_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/interrupt.h"
#include "sampan/error.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

using test::TemporaryFolder;

using namespace std::string_literals;

class LineReaderTest : public ::testing::Test {
 protected:
  // Lines of the files with these contents, each as text + ending.
  std::vector<std::string> lines_of(const std::vector<std::string>& contents) {
    std::vector<std::filesystem::path> files;
    for (const std::string& content : contents)
      files.push_back(folder_.write(std::to_string(files.size()), content));
    LineReader reader(files, interrupt_);
    std::vector<std::string> lines;
    InputLine line;
    while (reader.next(line, true) == LineReader::Status::kLine)
      lines.push_back(line.text + "|" + std::string(line.ending));
    return lines;
  }

  using Lines = std::vector<std::string>;
  TemporaryFolder folder_;
  Interrupt interrupt_;
  std::atomic<bool> half_seen_ = false;
};

TEST_F(LineReaderTest, KeepsEachLinesEnding) {
  EXPECT_EQ(lines_of({"a\nb\r\n\n\r\nc"}), (Lines{"a|\n", "b|\r\n", "|\n", "|\r\n", "c|"}));
  EXPECT_EQ(lines_of({"a\n"}), (Lines{"a|\n"}));
  EXPECT_EQ(lines_of({""}), Lines{});
  EXPECT_EQ(lines_of({"\n"}), (Lines{"|\n"}));
}

TEST_F(LineReaderTest, KeepsBytesThatAreNoText) {
  EXPECT_EQ(lines_of({"a\0b\xFF\rc\n"s}), (Lines{"a\0b\xFF\rc|\n"s}));
  EXPECT_EQ(lines_of({"a\r"}), (Lines{"a\r|"}));
}

TEST_F(LineReaderTest, PassesAByteOrderMarkAtTheStartOfEachFile) {
  EXPECT_EQ(lines_of({"\xEF\xBB\xBFone\ntwo \xEF\xBB\xBF\n", "\xEF\xBB\xBFthree"}),
            (Lines{"one|\n", "two \xEF\xBB\xBF|\n", "three|"}));
  EXPECT_EQ(lines_of({"\xEF\xBB\xBF"}), Lines{});
  EXPECT_EQ(lines_of({"\xEF\xBB"}), (Lines{"\xEF\xBB|"}));
}

TEST_F(LineReaderTest, DoesNotRunTheLastLineOfAFileIntoTheNext) {
  EXPECT_EQ(lines_of({"a", "b"}), (Lines{"a|\n", "b|"}));
  EXPECT_EQ(lines_of({"a", "", "b\n"}), (Lines{"a|\n", "b|\n"}));
  EXPECT_EQ(lines_of({"a", ""}), (Lines{"a|"}));
  EXPECT_EQ(lines_of({"a", "\xEF"}), (Lines{"a|\n", "\xEF|"}));
}

TEST_F(LineReaderTest, TakesLinesOfMegabytes) {
  const std::string giant(3'000'000, 'x');
  EXPECT_EQ(lines_of({giant + "\n" + giant}), (Lines{giant + "|\n", giant + "|"}));
}

TEST_F(LineReaderTest, SaysWhenAPipeHasNoLineYet) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  LineReader reader({pipe}, interrupt_);
  InputLine line;
  EXPECT_EQ(reader.next(line, false), LineReader::Status::kNotReady);
  std::thread writer([&] {
    std::ofstream stream(pipe);
    stream << "whole\nhal" << std::flush;
    while (!half_seen_) std::this_thread::yield();
    stream << "f\n" << std::flush;
  });
  EXPECT_EQ(reader.next(line, true), LineReader::Status::kLine);
  EXPECT_EQ(line.text, "whole");
  EXPECT_EQ(reader.next(line, false), LineReader::Status::kNotReady);
  half_seen_ = true;
  EXPECT_EQ(reader.next(line, true), LineReader::Status::kLine);
  EXPECT_EQ(line.text, "half");
  EXPECT_EQ(reader.next(line, true), LineReader::Status::kEnd);
  writer.join();
}

TEST_F(LineReaderTest, WakesUpWhenTheRunShouldStop) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  LineReader reader({pipe}, interrupt_);
  std::thread stopper([&] { interrupt_.request_stop(); });
  InputLine line;
  try {
    reader.next(line, true);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  stopper.join();
}

TEST_F(LineReaderTest, WakesUpAtTheDeadline) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Interrupt late(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  LineReader reader({pipe}, late);
  InputLine line;
  try {
    reader.next(line, true);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  }
}

TEST_F(LineReaderTest, NamesAFileThatIsNotThere) {
  LineReader reader({folder_ / "absent"}, interrupt_);
  InputLine line;
  try {
    reader.next(line, true);
    FAIL() << "it read something";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("absent"), std::string::npos);
  }
}

}  // namespace
}  // namespace sampan::cli
