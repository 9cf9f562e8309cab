#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::base {

/// One file of a zip archive.
struct ZipEntry {
  bool deflated = false;              ///< else stored as it is
  std::uint32_t crc = 0;              ///< CRC-32 of the content, as the archive claims it
  std::uint64_t size = 0;             ///< bytes of the content, as the archive claims it
  std::span<const std::byte> packed;  ///< within the archive; the content itself when stored
};

/// The directory of a zip archive (with the 64-bit extensions), borrowed from its bytes.
///
/// Only the central directory and the local headers it points to are trusted, after these checks:
/// every entry lies before the central directory, its local header has the same name, and names are
/// unique. Entries are neither checked against their CRC nor unpacked until asked for.
class ZipArchive {
 public:
  /// `bytes` must outlive the archive; `file` is what messages name. Throws `Error`: kInvalidData;
  /// kUnsupported for encrypted entries and methods other than stored and deflated.
  ZipArchive(std::span<const std::byte> bytes, const std::filesystem::path& file);

  const std::map<std::string, ZipEntry, std::less<>>& entries() const { return entries_; }
  /// The entry of that name, or null.
  const ZipEntry* find(std::string_view name) const;

 private:
  std::map<std::string, ZipEntry, std::less<>> entries_;
};

/// Whether bytes begin as a zip archive does.
bool begins_like_zip(std::span<const std::byte> bytes);

/// A copy of an entry's content, unpacked if need be, after checking size and CRC. The caller has
/// checked `entry.size` against what it expects: that many bytes are allocated. `name` and `file`
/// are what messages name. Throws `Error`: kInvalidData, also for a size that deflate cannot reach
/// from the packed bytes.
std::vector<std::byte> read_entry(const ZipEntry& entry, std::string_view name,
                                  const std::filesystem::path& file);

}  // namespace sampan::base
