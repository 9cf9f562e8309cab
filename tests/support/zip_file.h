#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Zip archives made in memory, honest and forged ones.
namespace sampan::test {

/// The lowest bytes of a number, the lowest first.
inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

/// One file of an archive, with whatever its headers are to claim.
struct ZipMember {
  std::string name;
  std::string packed;
  std::uint32_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::string local_name = name;  // in the header before the data
};

inline std::uint32_t crc_of(const std::string& content) {
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  return static_cast<std::uint32_t>(crc32_z(0, bytes, content.size()));
}

inline ZipMember stored(const std::string& name, const std::string& content) {
  return {name, content, static_cast<std::uint32_t>(content.size()), crc_of(content)};
}

inline ZipMember deflated(const std::string& name, const std::string& content) {
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
  return {name, packed, static_cast<std::uint32_t>(content.size()), crc_of(content), 8};
}

inline std::string zip_of(const std::vector<ZipMember>& members) {
  std::string file;
  std::string directory;
  for (const ZipMember& member : members) {
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

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace sampan::test
