#include "cli/run_report.h"

#include <gtest/gtest.h>

namespace sampan::cli {
namespace {

TEST(RunReport, SumsUpARun) {
  Translation translation;
  translation.tokens = {5, 6, 0};
  translation.sentences.resize(1);
  RunCounts part;
  part.add_translation(translation);
  translation.truncated = translation.repeats = true;
  part.add_translation(translation);
  RunCounts counts;
  counts.add(part);
  EXPECT_EQ(closing_line(counts, std::chrono::milliseconds(500)),
            "2 lines, 2 sentences, 6 tokens in 0.50 s (12 tokens/s); 1 truncated, 1 repeating");
  EXPECT_EQ(closing_line({}, {}),
            "0 lines, 0 sentences, 0 tokens in 0.00 s (0 tokens/s); 0 truncated, 0 repeating");
}

TEST(RunReport, WarnsOnceOfInvalidUtf8) {
  RunCounts counts;
  EXPECT_EQ(utf8_warning(counts), "");
  counts.invalid_utf8 = 3;
  counts.invalid_utf8_lines = 1;
  EXPECT_EQ(utf8_warning(counts),
            "warning: 3 sequences of invalid UTF-8 in 1 line replaced by U+FFFD; convert the input "
            "to UTF-8");
}

}  // namespace
}  // namespace sampan::cli
