#include "base/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/mapped_file.h"
#include "sampan/error.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::base {
namespace {

using test::caught_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

TEST(OutputFile, KeepsSmallAndLargePiecesInOrder) {
  const TemporaryFolder folder;
  const std::string large(std::size_t{1} << 20, 'b');
  OutputFile file(folder.path() / "file");
  file.write("a");
  file.write(large);
  file.write("");
  file.write("c");
  EXPECT_EQ(file.size(), large.size() + 2);
  file.close();
  EXPECT_EQ(read_file(folder.path() / "file", large.size() + 2), "a" + large + "c");
}

TEST(OutputFile, NeverWritesToWhatIsAlreadyThere) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  folder.write("file", "old");
  EXPECT_EQ(caught_error([&] { OutputFile file(path); }).code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(read_file(path, 10), "old");

  std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
  EXPECT_EQ(caught_error([&] { OutputFile file(folder.path() / "link"); }).code(),
            ErrorCode::kAlreadyExists);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
}

TEST(OutputFile, NamesTheFileAsTheCallerShowsIt) {
  const TemporaryFolder folder;
  const Error error =
      caught_error([&] { OutputFile file(folder.path() / "none" / "file", "package/file"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("package/file: cannot create"));
}

// Files on a full disk and files over the size limit fail alike; the limit needs no special disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit = {bytes, previous_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_ = {};
  void (*previous_handler_)(int) = nullptr;
};

TEST(OutputFile, SaysThatThereIsNoSpace) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(1000);
  const Error error = caught_error([&] {
    OutputFile file(folder.path() / "file");
    file.write(std::string(2000, 'x'));
    file.close();
  });
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(error.what(), HasSubstr("cannot write"));
}

TEST(SyncFolder, RefusesAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  sync_folder(folder.path());
  EXPECT_EQ(caught_error([&] { sync_folder(folder.path() / "none"); }).code(),
            ErrorCode::kNotFound);
}

TEST(ReplaceFile, LeavesTheNewContentAndNothingElse) {
  const TemporaryFolder folder;
  replace_file(folder / "file", "old");
  replace_file(folder / "file", "new");
  EXPECT_EQ(test::content_of(folder / "file"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(ReplaceFile, RefusesWhatIsNoFileAndAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(caught_error([&] { replace_file(folder.path(), "x"); }).code(),
            ErrorCode::kInvalidArgument);
  const Error error = caught_error([&] { replace_file(folder / "none" / "file", "x"); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr((folder / "none" / "file").string()));
}

}  // namespace
}  // namespace sampan::base
