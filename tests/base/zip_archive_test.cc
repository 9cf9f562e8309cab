#include "base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/caught_error.h"
#include "support/zip_file.h"

namespace sampan::base {
namespace {

using test::bytes_of;
using test::deflated;
using test::little;
using test::stored;
using test::zip_of;
using test::ZipMember;
using testing::HasSubstr;

Error error_of(const std::string& file) {
  return test::caught_error([&] {
    const ZipArchive archive(bytes_of(file), "some.zip");
    for (const auto& [name, entry] : archive.entries()) read_entry(entry, name, "some.zip");
  });
}

TEST(ZipArchive, StoredEntriesAreInPlaceAndDeflatedOnesUnpack) {
  const std::string content(5000, 'x');
  const std::string file =
      zip_of({stored("a", "hello"), deflated("b", content), deflated("e", "")});
  const ZipArchive archive(bytes_of(file), "some.zip");
  ASSERT_EQ(archive.entries().size(), 3u);
  const ZipEntry* a = archive.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(reinterpret_cast<const char*>(a->packed.data()), file.data() + file.find("hello"));
  const std::vector<std::byte> b = read_entry(*archive.find("b"), "b", "some.zip");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(b.data()), b.size()), content);
  EXPECT_TRUE(read_entry(*archive.find("e"), "e", "some.zip").empty());
  EXPECT_EQ(read_entry(*a, "a", "some.zip").size(), 5u);
  EXPECT_EQ(archive.find("c"), nullptr);
}

TEST(ZipArchive, ACommentMayFollowTheDirectory) {
  std::string file = zip_of({stored("a", "hello")});
  file.replace(file.size() - 2, 2, little(7, 2));
  file += "comment";
  EXPECT_NE(ZipArchive(bytes_of(file), "some.zip").find("a"), nullptr);
}

TEST(ZipArchive, DamagedAndForgedArchivesAreRefused) {
  const std::string good = zip_of({stored("a", "hello"), stored("b", "world")});
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)).what(), HasSubstr("no directory"));
  EXPECT_THAT(error_of("PK\x03\x04").what(), HasSubstr("no directory"));
  EXPECT_THAT(error_of(zip_of({stored("a", "x"), stored("a", "y")})).what(),
              HasSubstr("appears twice"));

  ZipMember member = stored("a", "hello");
  member.size = 6;
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("two different sizes"));
  member = stored("a", "hello");
  member.flags = 1;
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("encrypted"));
  member = stored("a", "hello");
  member.method = 12;
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("method 12"));
  member = stored("a", "hello");
  member.local_name = "b";
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("another name"));

  std::string moved = good;  // the first entry's data begins beyond the file
  const std::size_t central = good.find("PK\x01\x02");
  moved.replace(central + 42, 4, little(0xfffffff0, 4));
  EXPECT_THAT(error_of(moved).what(), HasSubstr("lies outside"));
  std::string longer = good;
  longer.replace(central + 20, 8, little(1000, 4) + little(1000, 4));
  EXPECT_THAT(error_of(longer).what(), HasSubstr("truncated or damaged"));
}

TEST(ZipArchive, StoredDataMustHaveItsChecksum) {
  std::string file = zip_of({stored("a", "hello")});
  file.replace(file.find("hello"), 5, "jello");
  EXPECT_THAT(error_of(file).what(), HasSubstr("wrong checksum"));
}

TEST(ZipArchive, DeflatedDataMustBeWhatTheDirectorySays) {
  const std::string content(5000, 'x');
  for (const std::uint32_t size : {4999u, 5001u, 0u}) {
    ZipMember member = deflated("a", content);
    member.size = size;
    EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("cannot be unpacked")) << size;
  }
  ZipMember member = deflated("a", content);
  member.crc ^= 1;
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("wrong checksum"));
  member = deflated("a", content);
  member.size = 0xfffffff0;  // allocated by nobody: deflate cannot reach it
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("more than its"));
  member = deflated("a", content);
  member.packed.resize(member.packed.size() / 2);
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("cannot be unpacked"));
  member = deflated("a", content);
  member.packed += "trailing";
  EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("cannot be unpacked"));
}

}  // namespace
}  // namespace sampan::base
