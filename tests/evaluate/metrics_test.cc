#include "evaluate/metrics.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sampan/error.h"
#include "support/folders.h"

namespace sampan::evaluate {
namespace {

const std::filesystem::path kData = std::filesystem::path(kSourceFolder) / "tests/data/evaluate";

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Metrics, EqualSacrebleuOnEveryGoldenFile) {
  int sets = 0;
  for (const std::string& row : read_lines(kData / "golden.tsv")) {
    std::istringstream fields(row);
    std::string name;
    double zh = 0, mteval = 0, chrf2 = 0;
    fields >> name >> zh >> mteval >> chrf2;
    const auto hypotheses = read_lines(kData / (name + ".hyp"));
    const auto references = read_lines(kData / (name + ".ref"));
    EXPECT_NEAR(bleu(hypotheses, references, BleuTokenizer::kZh).score, zh, 1e-9) << name;
    EXPECT_NEAR(bleu(hypotheses, references, BleuTokenizer::k13a).score, mteval, 1e-9) << name;
    EXPECT_NEAR(chrf(hypotheses, references), chrf2, 1e-9) << name;
    ++sets;
  }
  EXPECT_EQ(sets, 6);
}

TEST(Metrics, AnEqualTextScoresAHundred) {
  const std::vector<std::string> lines = {"今天天气很好。", "one two three four five"};
  EXPECT_NEAR(bleu(lines, lines, BleuTokenizer::kZh).score, 100.0, 1e-9);
  EXPECT_NEAR(chrf(lines, lines), 100.0, 1e-9);
}

TEST(Metrics, RefuseFilesOfDifferentLength) {
  const std::vector<std::string> one = {"a"}, two = {"a", "b"};
  EXPECT_THROW(bleu(one, two, BleuTokenizer::kZh), Error);
  EXPECT_THROW(chrf(one, two), Error);
}

TEST(Metrics, NothingAtAllScoresZero) {
  EXPECT_EQ(bleu({}, {}, BleuTokenizer::kZh).score, 0.0);
  EXPECT_EQ(chrf({}, {}), 0.0);
}

}  // namespace
}  // namespace sampan::evaluate
