#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "package/package.h"
#include "sampan/exporter.h"
#include "support/caught_error.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

// What an export leaves behind when it cannot end.
namespace sampan {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

const fs::path kCheckpoint = fs::path(kSourceFolder) / "models/tatoeba-en-zh";

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

using Names = std::set<std::string>;

// Runs `action` in a process of its own and returns how that ended; an `Error` ends it by its code.
int status_of_child(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      action();
      ::_exit(0);
    } catch (const Error& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(exit_code(error.code()));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// An export that is killed once the line `at` is reported.
void export_and_die(const fs::path& output, std::string_view at) {
  ExportOptions options;
  options.force = true;
  options.report = [at](std::string_view line) {
    if (line.starts_with(at)) ::kill(::getpid(), SIGKILL);
  };
  export_checkpoint(kCheckpoint, output, options);
}

TEST(Interruption, AKilledExportLeavesNoPackageAndTheNextOneWorks) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "package";
  for (const char* at : {"wrote encoder_model.onnx", "wrote model.onnx_data"}) {
    ASSERT_EQ(status_of_child([&] { export_and_die(output, at); }), 128 + SIGKILL);
    EXPECT_FALSE(fs::exists(output)) << at;
  }
  export_checkpoint(kCheckpoint, output);
  EXPECT_NO_THROW(package::verify_files(output));
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(Interruption, AKilledExportLeavesTheOldPackageWhole) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "package";
  export_checkpoint(kCheckpoint, output);
  ASSERT_EQ(status_of_child([&] { export_and_die(output, "wrote model.onnx_data"); }),
            128 + SIGKILL);
  EXPECT_NO_THROW(package::verify_files(output));
}

TEST(Interruption, AFileSizeLimitIsOneErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);  // as the program does
    const rlimit limit = {5'000'000, 5'000'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    export_checkpoint(kCheckpoint, folder.path() / "package");
  });
  EXPECT_EQ(status, exit_code(ErrorCode::kResourceExhausted));
  EXPECT_EQ(names_in(folder.path()), Names{});
}

// A small file system of its own, where this process may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& path) : path_(path) {
    fs::create_directory(path);
    mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=6m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool make_read_only() const {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

 private:
  fs::path path_;
  bool mounted_;
};

TEST(Interruption, AFullDiskIsOneErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  const fs::path disk_path = folder.path() / "disk";
  const SmallDisk disk(disk_path);
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small disk";
  const Error error = caught_error([&] { export_checkpoint(kCheckpoint, disk_path / "package"); });
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(error.what(), HasSubstr((disk_path / "package/model.onnx_data").string()));
  EXPECT_THAT(error.what(), HasSubstr("No space left on device; free some space"));
  EXPECT_EQ(names_in(disk_path), Names{});
}

TEST(Interruption, AReadOnlyDiskIsOneError) {
  const TemporaryFolder folder;
  const fs::path disk_path = folder.path() / "disk";
  const SmallDisk disk(disk_path);
  if (!disk.mounted() || !disk.make_read_only())
    GTEST_SKIP() << "this user may not mount a small disk";
  const Error error = caught_error([&] { export_checkpoint(kCheckpoint, disk_path / "package"); });
  EXPECT_EQ(error.code(), ErrorCode::kPermissionDenied);
  EXPECT_THAT(error.what(), HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace sampan
