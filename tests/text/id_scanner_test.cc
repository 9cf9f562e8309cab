#include "text/id_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sampan::text {
namespace {

using Members = std::vector<std::pair<std::string, std::uint64_t>>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Members scan(std::string_view json) {
  Members members;
  EXPECT_TRUE(scan_ids(json, [&](std::string_view name, std::uint64_t number) {
    members.emplace_back(name, number);
    return true;
  })) << json;
  return members;
}

bool declines(std::string_view json) {
  return !scan_ids(json, [](std::string_view, std::uint64_t) { return true; });
}

TEST(ScanIds, ReadsMembersInOrder) {
  EXPECT_THAT(scan("{\n  \"</s>\": 0,\r\n\t\"你\" :12 , \"\":999999999999999999 } \n"),
              ElementsAre(Pair("</s>", 0), Pair("你", 12), Pair("", 999999999999999999)));
  EXPECT_THAT(scan(" { } "), IsEmpty());
}

TEST(ScanIds, ReadsEveryEscape) {
  EXPECT_THAT(
      scan(
          R"({"\u2581a\"\\\/\b\f\n\r\t": 1, "\u0041\u00e9\u4F60\ud83D\ude00z": 2, "x\u0000y": 3})"),
      ElementsAre(Pair("▁a\"\\/\b\f\n\r\t", 1), Pair("Aé你😀z", 2),
                  Pair(std::string("x\0y", 3), 3)));
}

TEST(ScanIds, DeclinesWhatIsNoPlainObjectOfNumbers) {
  for (const char* json : {"",
                           "[]",
                           "{",
                           R"({"a")",
                           R"({"a":)",
                           R"({"a":1)",
                           R"({"a":1,})",
                           R"({"a":1}x)",
                           R"({"a" 1})",
                           R"({"a":1 "b":2})",
                           R"({a:1})",
                           R"({"a":-1})",
                           R"({"a":1.0})",
                           R"({"a":1e3})",
                           R"({"a":01})",
                           R"({"a":1000000000000000000})",
                           R"({"a":"1"})",
                           R"({"a":{}})",
                           R"({"a":null})",
                           "{\"a\n\":1}",
                           R"({"\x":1})",
                           R"({"\u12":1})",
                           R"({"\u+123":1})",
                           R"({"\ud83d":1})",
                           R"({"\ud83dx":1})",
                           R"({"\ud83d\u0041":1})",
                           R"({"\ude00":1})",
                           "{\"\xff\":1}",
                           "{\"a\\"})
    EXPECT_TRUE(declines(json)) << json;
}

TEST(ScanIds, StopsWhenItsCallerSaysSo) {
  int calls = 0;
  EXPECT_FALSE(scan_ids(R"({"a":1,"b":2,"c":3})",
                        [&](std::string_view, std::uint64_t) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sampan::text
