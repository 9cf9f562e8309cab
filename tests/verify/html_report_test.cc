#include "verify/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/markup.h"

namespace sampan::verify {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// Something of everything that a page shows, with texts that would break it.
Report full_report() {
  Report report;
  report.manifest_sha256 = std::string(64, 'a');
  report.lines = 24;
  report.seconds = 12.5;
  report.checks = {passed("files", "14 files"), limited("encoder.states", 2e-6, 1e-4, "row 3"),
                   limited("merged.first_logits", std::numeric_limits<double>::infinity(), 1e-5,
                           "<b>\"x\" & 'y'</b>"),
                   limited("greedy.tokens", 2, 0, "of 24 lines"), not_checked("source", "none")};
  report.places = {
      {"merged", "decoder.layers.0.fc1", "bias", "/decoder/<Add>", 0.5, 1e-4, "row 0"}};
  for (int i = 0; i < 30; ++i)
    report.inner_values.push_back(
        {"merged", "decoder.layers." + std::to_string(i), 1e-7 * i, 1e-8 * i});
  report.inner_values[7].name = "decoder.layers.0.fc1";
  report.inner_values[7].relative_error = 0.25;
  report.line_differences = {{3, "a < b", "甲", "乙", 2, "5 '甲'", "nothing", false}};
  report.latency.emplace();
  report.latency->text = "Hello.";
  report.latency->runs = 100;
  report.latency->threads = 1;
  for (int i = 0; i < 100; ++i) {
    report.latency->wall_ms.push_back(10 + i % 7);
    report.latency->cpu_ms.push_back(9 + i % 5);
  }
  report.latency->wall = {13, 16, 16};
  return report;
}

TEST(HtmlReport, StandsAloneWithoutScript) {
  const std::string page = format_html(full_report(), "some package");
  EXPECT_EQ(test::markup_fault(page), "");
  for (const char* forbidden : {"<script", "<link", "<img", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(forbidden)));
  // The one address is the name of SVG's own vocabulary.
  std::string rest = page;
  for (const std::string name = "http://www.w3.org/2000/svg"; rest.find(name) != std::string::npos;)
    rest.erase(rest.find(name), name.size());
  EXPECT_THAT(rest, Not(AnyOf(HasSubstr("http:"), HasSubstr("https:"))));
}

TEST(HtmlReport, PutsTheVerdictFirstAndWhatIsWrongNext) {
  const std::string page = format_html(full_report(), "some package");
  const std::size_t verdict = page.find("<strong>Problems found</strong>");
  const std::size_t wrong = page.find("What is wrong");
  const std::size_t checks = page.find("<h2>Checks</h2>");
  ASSERT_NE(checks, std::string::npos);
  EXPECT_LT(verdict, wrong);
  EXPECT_LT(wrong, checks);
  EXPECT_THAT(page, HasSubstr("decoder.layers.0.fc1"));
  EXPECT_THAT(page, HasSubstr("/decoder/&lt;Add&gt;"));
  EXPECT_THAT(page, HasSubstr("the largest 20 of 30"));
  EXPECT_THAT(page, HasSubstr("Line 3"));
  EXPECT_THAT(page, HasSubstr("P99"));
}

TEST(HtmlReport, HasNoSectionForWhatWasNotDone) {
  Report report;
  report.checks = {passed("files", "")};
  const std::string page = format_html(report, "p");
  EXPECT_EQ(test::markup_fault(page), "");
  EXPECT_THAT(page, HasSubstr("<strong>Passed</strong>"));
  for (const char* heading : {"What is wrong", "<h2>Differences", "<h2>Latency", "as recorded"})
    EXPECT_THAT(page, Not(HasSubstr(heading)));
}

}  // namespace
}  // namespace sampan::verify
