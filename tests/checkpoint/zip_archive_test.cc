#include "checkpoint/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/torch_file.h"
#include "support/caught_error.h"

namespace sampan::checkpoint {
namespace {

using testing::HasSubstr;

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

struct Member {
  std::string name;
  std::string packed;
  std::uint32_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::string local_name = name;  // in the header before the data
};

Member stored(const std::string& name, const std::string& content) {
  return {name, content, static_cast<std::uint32_t>(content.size())};
}

Member deflated(const std::string& name, const std::string& content) {
  std::string packed(compressBound(content.size()) + 16, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  const auto crc = static_cast<std::uint32_t>(crc32_z(0, bytes, content.size()));
  return {name, packed, static_cast<std::uint32_t>(content.size()), crc, 8};
}

std::string zip_of(const std::vector<Member>& members) {
  std::string file;
  std::string directory;
  for (const Member& member : members) {
    const std::string facts = little(20, 2) + little(member.flags, 2) + little(member.method, 2) +
                              little(0, 4) + little(member.crc, 4) +
                              little(member.packed.size(), 4) + little(member.size, 4) +
                              little(member.name.size(), 2) + little(0, 2);
    directory += little(0x02014b50, 4) + little(20, 2) + facts + little(0, 10) +
                 little(file.size(), 4) + member.name;
    file += little(0x04034b50, 4) + facts + member.local_name + member.packed;
  }
  const std::string end = little(0x06054b50, 4) + little(0, 4) + little(members.size(), 2) +
                          little(members.size(), 2) + little(directory.size(), 4) +
                          little(file.size(), 4) + little(0, 2);
  return file + directory + end;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Error error_of(const std::string& file) {
  return test::caught_error([&] {
    const ZipArchive archive(bytes_of(file), "some.zip");
    for (const auto& [name, entry] : archive.entries())
      if (entry.deflated) inflate_entry(entry, name, "some.zip");
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
  const std::vector<std::byte> b = inflate_entry(*archive.find("b"), "b", "some.zip");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(b.data()), b.size()), content);
  EXPECT_TRUE(inflate_entry(*archive.find("e"), "e", "some.zip").empty());
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

  Member member = stored("a", "hello");
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

TEST(ZipArchive, DeflatedDataMustBeWhatTheDirectorySays) {
  const std::string content(5000, 'x');
  for (const std::uint32_t size : {4999u, 5001u, 0u}) {
    Member member = deflated("a", content);
    member.size = size;
    EXPECT_THAT(error_of(zip_of({member})).what(), HasSubstr("cannot be unpacked")) << size;
  }
  Member member = deflated("a", content);
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

Error torch_error_of(const std::vector<Member>& members) {
  const std::string file = zip_of(members);
  return test::caught_error([&] {
    TensorStore store;
    read_torch_file(bytes_of(file), "pytorch_model.bin", store);
  });
}

TEST(TorchZip, ArchivesThatAreNoCheckpointSaySo) {
  EXPECT_THAT(torch_error_of({stored("readme.txt", "hello")}).what(),
              HasSubstr("without data.pkl"));
  EXPECT_THAT(torch_error_of({stored("a/data.pkl", "}."), stored("b/data.pkl", "}.")}).what(),
              HasSubstr("two folders"));
  const Error script =
      torch_error_of({stored("a/data.pkl", "}."), stored("a/constants.pkl", ").")});
  EXPECT_EQ(script.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(script.what(), HasSubstr("TorchScript"));
  const Error big = torch_error_of({stored("a/data.pkl", "}."), stored("a/byteorder", "big")});
  EXPECT_EQ(big.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(big.what(), HasSubstr("'big'"));
}

TEST(TorchZip, ABombIsNotUnpacked) {
  const std::string zeros(96 << 20, '\0');
  const Error error = torch_error_of({deflated("a/data.pkl", zeros)});
  EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(error.what(), HasSubstr("would unpack to 100663296 bytes"));
}

}  // namespace
}  // namespace sampan::checkpoint
