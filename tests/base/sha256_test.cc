#include "base/sha256.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "sampan/error.h"
#include "support/temporary_folder.h"

namespace sampan::base {
namespace {

std::string digest(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text.data(), text.size())));
  return hash.finish();
}

TEST(Sha256, KnownDigests) {  // FIPS 180-4's examples
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, OfAFileEqualsOfItsBytes) {
  const test::TemporaryFolder folder;
  const std::string content(1000003, 'x');
  folder.write("large", content);
  const FileDigest file = sha256_of_file(folder.path() / "large");
  EXPECT_EQ(file.sha256, digest(content));
  EXPECT_EQ(file.size, content.size());
}

TEST(Sha256, NamesAFileThatIsMissing) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(sha256_of_file(folder.path() / "none"), Error);
}

}  // namespace
}  // namespace sampan::base
