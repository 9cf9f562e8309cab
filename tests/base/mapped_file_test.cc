#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::base {
namespace {

using test::caught_error;
using test::TemporaryFolder;

TEST(MappedFile, KeepsItsBytesWhenMoved) {
  const TemporaryFolder folder;
  MappedFile first(folder.write("\xe6\xa8\xa1\xe5\x9e\x8b", "abc"));
  const auto* address = first.bytes().data();
  const MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes().data(), address);
  EXPECT_EQ(second.bytes().size(), 3u);
}

TEST(MappedFile, IsEmptyForAnEmptyFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
}

// Opening a pipe for reading used to wait for a writer for ever.
TEST(MappedFile, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, folder.path()})
    EXPECT_EQ(caught_error([&] { MappedFile file(path); }).code(), ErrorCode::kInvalidData) << path;
  EXPECT_EQ(caught_error([&] { read_file(pipe, 10); }).code(), ErrorCode::kInvalidData);
}

TEST(ReadFile, RefusesAFileLongerThanItsKind) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "abc");
  EXPECT_EQ(read_file(path, 3), "abc");
  EXPECT_EQ(caught_error([&] { read_file(path, 2); }).code(), ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace sampan::base
