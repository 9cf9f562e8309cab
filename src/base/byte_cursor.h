#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sampan::base {

/// Reads forward through the bytes of a file, checking every step. Every read throws `Error`
/// kInvalidData when the bytes end before it does; `file` and `part` ("the central directory") are
/// what that message names, and must outlive the cursor, as must the bytes.
class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, const std::filesystem::path& file,
             std::string_view part)
      : bytes_(bytes), file_(&file), part_(part) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > remaining()) fail_truncated(count);
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  /// The next bytes as text, borrowed from the file.
  std::string_view text(std::uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  /// The text up to the next line feed, which is passed over.
  std::string_view line();

  template <std::unsigned_integral T>
  T little_endian() {
    T value = 0;
    std::size_t shift = 0;
    for (const std::byte byte : take(sizeof(T))) {
      value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(byte) << shift));
      shift += 8;
    }
    return value;
  }

 private:
  [[noreturn]] void fail_truncated(std::uint64_t count) const;

  std::span<const std::byte> bytes_;
  const std::filesystem::path* file_;
  std::string_view part_;
  std::size_t position_ = 0;
};

}  // namespace sampan::base
