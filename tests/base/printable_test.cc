#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace sampan::base {
namespace {

TEST(Printable, IsOneLineOfPrintableAscii) {
  EXPECT_EQ(printable("a b~"), "a b~");
  EXPECT_EQ(printable("a\nb\x1b[0m"), "a\\x0ab\\x1b[0m");
  EXPECT_EQ(printable(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\u4f60"), "\\xe4\\xbd\\xa0");
}

TEST(Printable, CutsWhatIsTooLongForAMessage) {
  EXPECT_EQ(printable(std::string(100, 'a')), std::string(100, 'a'));
  EXPECT_EQ(printable(std::string(5000, 'a')), std::string(100, 'a') + "...");
}

}  // namespace
}  // namespace sampan::base
