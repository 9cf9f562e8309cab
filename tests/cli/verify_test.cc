#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sampan::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

const std::string kMarian = std::string(kSourceFolder) + "/models/tatoeba-en-zh";
const std::string kM2M100 = std::string(kSourceFolder) + "/tests/data/m2m100/checkpoint";

class VerifyTest : public ::testing::Test {
 protected:
  void export_package(const std::string& checkpoint) {
    const Outcome outcome = run_program({"export", checkpoint, "--output", package_});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  Outcome verify(const std::string& checkpoint, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"verify", package_, "--checkpoint", checkpoint};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(std::move(arguments));
  }
  fs::path verification() const { return fs::path(package_) / "verification.json"; }

  test::TemporaryFolder folder_;
  std::string package_ = (folder_ / "package").string();
};

TEST_F(VerifyTest, PassesAGoodPackageAndRecordsItThere) {
  export_package(kMarian);
  const Outcome outcome =
      verify(kMarian, {"--text", folder_.write("text", "Good morning.\n").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\npassed: 26 checks, 1 lines, "));
  EXPECT_THAT(outcome.err, IsEmpty());
  const Json json = Json::parse(test::content_of(verification()));
  EXPECT_EQ(json["verdict"], "passed");
  EXPECT_EQ(json["checks"].size(), 26U);
  // The package is what it was, and a new one knows nothing of the old one's verification.
  EXPECT_EQ(run_program({"export", kMarian, "--output", package_, "--force"}).status, 0);
  EXPECT_FALSE(fs::exists(verification()));
}

TEST_F(VerifyTest, EndsWithAnotherCodeForProblemsAndForWhatCouldNotBeChecked) {
  export_package(kM2M100);
  const Outcome unknown = verify(kM2M100, {"--json"});
  EXPECT_EQ(unknown.status, 7);
  EXPECT_EQ(Json::parse(unknown.out)["verdict"], "not_checked");
  EXPECT_EQ(test::content_of(verification()), unknown.out);

  folder_.write("package/vocab.json",
                std::string(fs::file_size(fs::path(package_) / "vocab.json"), ' '));
  const Outcome damaged = verify(kM2M100);
  EXPECT_EQ(damaged.status, 13);
  EXPECT_THAT(damaged.out, HasSubstr("FAILED"));
  EXPECT_EQ(Json::parse(test::content_of(verification()))["verdict"], "problems");
}

TEST_F(VerifyTest, RecordsNothingWhereItIsToldSoOrCouldNotRun) {
  export_package(kM2M100);
  EXPECT_EQ(verify(kM2M100, {"--no-record"}).status, 7);
  const Outcome missing = verify((folder_ / "none").string());
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.out, IsEmpty());
  EXPECT_EQ(verify(kM2M100, {"--text", folder_.write("empty", "").string()}).status, 2);
  EXPECT_FALSE(fs::exists(verification()));
}

}  // namespace
}  // namespace sampan::cli
