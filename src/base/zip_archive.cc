#include "base/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/byte_cursor.h"
#include "base/fail.h"
#include "base/printable.h"

namespace sampan::base {
namespace {

// PKWARE's APPNOTE 6.3: section 4.3.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kDirectoryEnd64Locator = 0x07064b50;
constexpr std::size_t kDirectoryEndSize = 22;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint32_t kSeeExtra32 = 0xffffffff;
constexpr std::uint16_t kSeeExtra16 = 0xffff;
constexpr std::uint16_t kExtra64 = 0x0001;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kMostEntries = 200'000;

using Bytes = std::span<const std::byte>;

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view problem) {
  fail(ErrorCode::kInvalidData, "{}: damaged zip archive: {}; download the file again",
       file.string(), problem);
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

// The end record stands before a comment of unknown length: the last place where both agree.
std::size_t find_directory_end(Bytes bytes, const std::filesystem::path& file) {
  if (bytes.size() >= kDirectoryEndSize) {
    const std::size_t last = bytes.size() - kDirectoryEndSize;
    const std::size_t first = last - std::min(last, kLongestComment);
    for (std::size_t place = last + 1; place-- > first;) {
      if (bytes[place] != std::byte{'P'}) continue;
      ByteCursor cursor(bytes.subspan(place), file, "the end record");
      if (cursor.little_endian<std::uint32_t>() != kDirectoryEnd) continue;
      cursor.take(16);
      if (cursor.little_endian<std::uint16_t>() == cursor.remaining()) return place;
    }
  }
  refuse(file, "it has no directory at its end, as when a download was cut short");
}

Directory read_directory_end64(Bytes bytes, std::size_t end, const std::filesystem::path& file) {
  ByteCursor locator(bytes.subspan(end - kLocatorSize), file, "the 64-bit locator");
  locator.take(8);
  const std::uint64_t place = locator.little_endian<std::uint64_t>();
  if (place > end) refuse(file, "its 64-bit end record lies outside");
  ByteCursor cursor(bytes.subspan(static_cast<std::size_t>(place)), file, "the 64-bit end record");
  if (cursor.little_endian<std::uint32_t>() != kDirectoryEnd64)
    refuse(file, "its 64-bit end record is missing");
  cursor.take(28);
  Directory directory;
  directory.entries = cursor.little_endian<std::uint64_t>();
  directory.size = cursor.little_endian<std::uint64_t>();
  directory.offset = cursor.little_endian<std::uint64_t>();
  return directory;
}

Directory read_directory_end(Bytes bytes, const std::filesystem::path& file) {
  const std::size_t end = find_directory_end(bytes, file);
  ByteCursor cursor(bytes.subspan(end), file, "the end record");
  cursor.take(10);
  Directory directory;
  directory.entries = cursor.little_endian<std::uint16_t>();
  directory.size = cursor.little_endian<std::uint32_t>();
  directory.offset = cursor.little_endian<std::uint32_t>();
  const bool needs64 = directory.entries == kSeeExtra16 || directory.size == kSeeExtra32 ||
                       directory.offset == kSeeExtra32;
  if (needs64 && end >= kLocatorSize) {
    ByteCursor locator(bytes.subspan(end - kLocatorSize), file, "the 64-bit locator");
    if (locator.little_endian<std::uint32_t>() == kDirectoryEnd64Locator)
      directory = read_directory_end64(bytes, end, file);
  }
  if (directory.offset > end || directory.size > end - directory.offset)
    refuse(file, "its directory lies outside");
  if (directory.entries > kMostEntries) refuse(file, "it has too many entries");
  return directory;
}

struct CentralRecord {
  std::string_view name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t local_header = 0;
};

// Sizes of 0xffffffff stand, in this order, in the extra field of the 64-bit extensions.
void read_extra(Bytes extra, const std::filesystem::path& file, CentralRecord& record) {
  ByteCursor cursor(extra, file, "an extra field");
  while (cursor.remaining() >= 4) {
    const auto id = cursor.little_endian<std::uint16_t>();
    const auto length = cursor.little_endian<std::uint16_t>();
    ByteCursor field(cursor.take(length), file, "the 64-bit extra field");
    if (id != kExtra64) continue;
    for (std::uint64_t* value : {&record.size, &record.packed_size, &record.local_header})
      if (*value == kSeeExtra32) *value = field.little_endian<std::uint64_t>();
    return;
  }
}

CentralRecord read_central_record(ByteCursor& cursor, const std::filesystem::path& file) {
  if (cursor.little_endian<std::uint32_t>() != kCentralHeader)
    refuse(file, "its directory is overwritten");
  CentralRecord record;
  cursor.take(4);
  record.flags = cursor.little_endian<std::uint16_t>();
  record.method = cursor.little_endian<std::uint16_t>();
  cursor.take(4);
  record.crc = cursor.little_endian<std::uint32_t>();
  record.packed_size = cursor.little_endian<std::uint32_t>();
  record.size = cursor.little_endian<std::uint32_t>();
  const auto name_length = cursor.little_endian<std::uint16_t>();
  const auto extra_length = cursor.little_endian<std::uint16_t>();
  const auto comment_length = cursor.little_endian<std::uint16_t>();
  cursor.take(8);
  record.local_header = cursor.little_endian<std::uint32_t>();
  record.name = cursor.text(name_length);
  read_extra(cursor.take(extra_length), file, record);
  cursor.take(comment_length);
  return record;
}

// `before_directory` is the part of the archive that may hold entries.
ZipEntry locate(const CentralRecord& record, Bytes before_directory,
                const std::filesystem::path& file) {
  const std::string name = printable(record.name);
  if (record.flags & 1u)
    fail(ErrorCode::kUnsupported, "{}: entry '{}' is encrypted; save it without a password",
         file.string(), name);
  if (record.method != kStored && record.method != kDeflated)
    fail(ErrorCode::kUnsupported,
         "{}: entry '{}' is packed with method {}; only stored and deflated entries are "
         "supported: pack it again",
         file.string(), name, record.method);
  if (record.local_header > before_directory.size())
    refuse(file, "entry '" + name + "' lies outside");
  ByteCursor cursor(before_directory.subspan(static_cast<std::size_t>(record.local_header)), file,
                    "an entry");
  if (cursor.little_endian<std::uint32_t>() != kLocalHeader)
    refuse(file, "entry '" + name + "' has no header");
  cursor.take(22);
  const auto name_length = cursor.little_endian<std::uint16_t>();
  const auto extra_length = cursor.little_endian<std::uint16_t>();
  if (cursor.text(name_length) != record.name)
    refuse(file, "entry '" + name + "' has another name in its header");
  cursor.take(extra_length);
  ZipEntry entry{record.method == kDeflated, record.crc, record.size,
                 cursor.take(record.packed_size)};
  if (!entry.deflated && entry.size != entry.packed.size())
    refuse(file, "entry '" + name + "' has two different sizes");
  return entry;
}

class Inflater {
 public:
  explicit Inflater(const std::filesystem::path& file) {
    constexpr int kRawDeflate = -MAX_WBITS;
    if (inflateInit2(&stream_, kRawDeflate) != Z_OK)
      fail(ErrorCode::kResourceExhausted, "{}: no memory for unpacking it; close other programs",
           file.string());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Whether `packed` unpacks to exactly `content`. zlib counts in 32 bits, so it is fed in pieces.
  bool run(Bytes packed, std::span<std::byte> content) {
    constexpr std::size_t kPiece = std::size_t{1} << 30;
    std::size_t read = 0;
    std::size_t written = 0;
    for (int result = Z_OK; result != Z_STREAM_END;) {
      const std::size_t input = std::min(packed.size() - read, kPiece);
      const std::size_t output = std::min(content.size() - written, kPiece);
      std::byte spare{};  // where the stream may only end; room for it shows what writes more
      stream_.next_in =
          reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(packed.data() + read));
      stream_.avail_in = static_cast<uInt>(input);
      stream_.next_out = reinterpret_cast<Bytef*>(output ? content.data() + written : &spare);
      stream_.avail_out = static_cast<uInt>(output ? output : 1);
      result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) return false;
      const std::size_t produced = (output ? output : 1) - stream_.avail_out;
      if (produced > output) return false;
      read += input - stream_.avail_in;
      written += produced;
    }
    return read == packed.size() && written == content.size();
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

ZipArchive::ZipArchive(Bytes bytes, const std::filesystem::path& file) {
  const Directory directory = read_directory_end(bytes, file);
  const auto offset = static_cast<std::size_t>(directory.offset);
  ByteCursor cursor(bytes.subspan(offset, static_cast<std::size_t>(directory.size)), file,
                    "the directory");
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const CentralRecord record = read_central_record(cursor, file);
    const bool added =
        entries_.emplace(record.name, locate(record, bytes.first(offset), file)).second;
    if (!added) refuse(file, "entry '" + printable(record.name) + "' appears twice");
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto place = entries_.find(name);
  return place == entries_.end() ? nullptr : &place->second;
}

bool begins_like_zip(Bytes bytes) {
  constexpr std::byte kOpening[] = {std::byte{'P'}, std::byte{'K'}, std::byte{3}, std::byte{4}};
  return bytes.size() >= std::size(kOpening) &&
         std::equal(std::begin(kOpening), std::end(kOpening), bytes.begin());
}

std::vector<std::byte> read_entry(const ZipEntry& entry, std::string_view name,
                                  const std::filesystem::path& file) {
  constexpr std::uint64_t kBestRatio = 1032;  // deflate's own bound
  if (entry.size / kBestRatio > entry.packed.size())
    refuse(file, "entry '" + printable(name) + "' claims " + std::to_string(entry.size) +
                     " bytes, more than its " + std::to_string(entry.packed.size()) +
                     " packed ones can hold");
  std::vector<std::byte> content(static_cast<std::size_t>(entry.size));
  if (!entry.deflated)
    std::ranges::copy(entry.packed, content.begin());
  else if (!Inflater(file).run(entry.packed, content))
    refuse(file, "entry '" + printable(name) + "' cannot be unpacked to " +
                     std::to_string(entry.size) + " bytes");
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (crc != entry.crc) refuse(file, "entry '" + printable(name) + "' has a wrong checksum");
  return content;
}

}  // namespace sampan::base
