#include "package/staged_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mapped_file.h"
#include "support/caught_error.h"
#include "support/temporary_folder.h"

namespace sampan::package {
namespace {

namespace fs = std::filesystem;
using test::caught_error;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kMarker = "sampan.json";

void write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

void stage(const fs::path& target, const std::string& content, const std::string& marker = "") {
  StagedFolder folder(target, marker);
  write(folder.content() / kMarker, content);
  write(folder.content() / "onnx" / "model.onnx", content);
  folder.publish();
}

std::string text_of(const fs::path& path) { return base::read_file(path, 1000); }

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

using Names = std::set<std::string>;

TEST(StagedFolder, AppearsWholeAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "\xe8\x88\xa2\xe6\x9d\xbf";  // not ASCII
  {
    StagedFolder staged(target, "");
    write(staged.content() / kMarker, "new");
    EXPECT_FALSE(fs::exists(target));
    staged.publish();
    EXPECT_EQ(text_of(target / kMarker), "new");
  }
  EXPECT_EQ(names_in(folder.path()), Names{target.filename().string()});
}

TEST(StagedFolder, LeavesNothingWhenItIsNotPublished) {
  const TemporaryFolder folder;
  {
    StagedFolder staged(folder.path() / "package", "");
    write(staged.content() / kMarker, "new");
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(StagedFolder, TakesATrailingSlashAndLongNames) {
  const TemporaryFolder folder;
  stage(folder.path() / "package/", "new");
  EXPECT_EQ(text_of(folder.path() / "package" / kMarker), "new");
  const std::string longest(255, 'n');
  stage(folder.path() / longest, "new");
  EXPECT_EQ(names_in(folder.path()), (Names{"package", longest}));
}

TEST(StagedFolder, NeedsAnExistingParentAndAName) {
  const TemporaryFolder folder;
  EXPECT_EQ(caught_error([&] { StagedFolder staged(folder.path() / "a" / "b", ""); }).code(),
            ErrorCode::kNotFound);
  EXPECT_EQ(caught_error([&] { StagedFolder staged("/", ""); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(StagedFolder, ReplacesOnlyWhatHasTheMarker) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  stage(target, "old");
  write(target / "notes", "old");
  EXPECT_EQ(caught_error([&] { stage(target, "new"); }).code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(text_of(target / kMarker), "old");

  stage(target, "new", kMarker);
  EXPECT_EQ(text_of(target / kMarker), "new");
  EXPECT_FALSE(fs::exists(target / "notes"));
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(StagedFolder, NeverReplacesAnythingElse) {
  const TemporaryFolder folder;
  folder.write("thesis/chapter.txt", "years of work");
  folder.write("file", "x");
  fs::create_directory(folder.path() / "empty");
  folder.write("real/sampan.json", "{}");
  fs::create_directory_symlink("real", folder.path() / "link");
  fs::create_directories(folder.path() / "odd" / kMarker);  // the marker is a folder
  const Names before = names_in(folder.path());
  for (const char* name : {"thesis", "file", "empty", "link", "odd"}) {
    const Error error = caught_error([&] { stage(folder.path() / name, "new", kMarker); });
    EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists) << name;
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
  EXPECT_EQ(names_in(folder.path()), before);
  EXPECT_EQ(text_of(folder.path() / "thesis/chapter.txt"), "years of work");
}

TEST(StagedFolder, RefusesATargetThatAppearedMeanwhile) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  {
    StagedFolder staged(target, "");
    folder.write("package/other", "x");
    EXPECT_EQ(caught_error([&] { staged.publish(); }).code(), ErrorCode::kAlreadyExists);
  }
  EXPECT_EQ(text_of(target / "other"), "x");
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(StagedFolder, TakesThePlaceOfATargetThatVanishedMeanwhile) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  stage(target, "old");
  StagedFolder staged(target, kMarker);
  write(staged.content() / kMarker, "new");
  fs::remove_all(target);
  staged.publish();
  EXPECT_EQ(text_of(target / kMarker), "new");
}

TEST(StagedFolder, OneOfManyWins) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  std::vector<std::string> outcomes(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          stage(target, std::to_string(i));
          outcomes[i] = "won";
        } catch (const Error& error) {
          outcomes[i] = std::string(error_name(error.code()));
        }
      });
  }
  EXPECT_EQ(std::ranges::count(outcomes, "won"), 1);
  EXPECT_EQ(std::ranges::count(outcomes, "already_exists"), 7);
  EXPECT_EQ(text_of(target / kMarker), text_of(target / "onnx/model.onnx"));
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(StagedFolder, ReplacementsAtTheSameTimeNeverMix) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  stage(target, "old");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] { stage(target, std::to_string(i), kMarker); });
  }
  EXPECT_NE(text_of(target / kMarker), "old");
  EXPECT_EQ(text_of(target / kMarker), text_of(target / "onnx/model.onnx"));
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

// Runs `action` in a process of its own; it must end by `exit_code` 0.
template <typename Action>
void in_child(Action action) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      action();
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
}

TEST(StagedFolder, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  in_child([&] {
    StagedFolder staged(target, "");
    write(staged.content() / kMarker, "half");
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_FALSE(fs::exists(target));
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
  stage(target, "new");
  EXPECT_EQ(text_of(target / kMarker), "new");
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(StagedFolder, LeavesTheTemporaryFolderOfALivingProcess) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  StagedFolder living(target, "");
  write(living.content() / kMarker, "slow");
  stage(folder.path() / "package", "fast");
  EXPECT_EQ(text_of(living.content() / kMarker), "slow");
}

TEST(StagedFolder, LeavesWhatOnlyLooksLikeATemporaryFolder) {
  const TemporaryFolder folder;
  const std::string random(16, '0');
  folder.write(".package.tmp-12-" + random + "/content/mine", "x");  // without a lock
  folder.write(".package.tmp-12/lock", "");
  folder.write(".package.tmp-x-" + random + "/lock", "");
  folder.write(".package.tmp-12-" + random + "0/lock", "");
  folder.write(".package2.tmp-12-" + random + "/lock", "");
  folder.write("elsewhere/lock", "");
  fs::create_directory_symlink("elsewhere", folder.path() / (".package.tmp-13-" + random));
  fs::create_directory(folder.path() / (".package.tmp-14-" + random));  // empty: removed
  Names expected = names_in(folder.path());
  expected.erase(".package.tmp-14-" + random);
  expected.insert("package");
  stage(folder.path() / "package", "new");
  EXPECT_EQ(names_in(folder.path()), expected);
  EXPECT_TRUE(fs::exists(folder.path() / "elsewhere/lock"));
}

// Answers renameat2 with EINVAL from now on, as file systems without its flags do.
void forbid_rename_flags() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {std::size(filter), filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::runtime_error("no seccomp");
}

TEST(StagedFolder, WorksWhereTheFileSystemCannotExchange) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "package";
  in_child([&] {
    forbid_rename_flags();
    stage(target, "old");
    stage(target, "new", kMarker);
    try {
      stage(target, "newer");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kAlreadyExists) return;
    }
    throw std::runtime_error("an existing target was not refused");
  });
  EXPECT_EQ(text_of(target / kMarker), "new");
  EXPECT_EQ(names_in(folder.path()), Names{"package"});
}

TEST(StagedFolder, SaysThatTheFolderCannotBeWritten) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  in_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) throw std::runtime_error("no seteuid");
    const Error error = caught_error([&] { StagedFolder staged(folder.path() / "package", ""); });
    if (error.code() != ErrorCode::kPermissionDenied) throw error;
  });
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(names_in(folder.path()), Names{});
}

}  // namespace
}  // namespace sampan::package
