#include "base/foreign_content.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/fail.h"

namespace sampan::base {
namespace {

// The first characters in lower case, without white space and byte order mark before them.
std::string opening_text(std::span<const std::byte> bytes) {
  constexpr std::size_t kLookedAt = 1024;
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kLookedAt))) {
    const char c = static_cast<char>(byte);
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

}  // namespace

void refuse_foreign_content(std::span<const std::byte> bytes, const std::filesystem::path& file) {
  constexpr std::string_view kLfsPointer = "version https://git-lfs";
  const std::string text = opening_text(bytes);
  if (text.empty()) fail(ErrorCode::kInvalidData, "{}: is empty; download it again", file.string());
  if (text.starts_with(kLfsPointer))
    fail(ErrorCode::kInvalidData,
         "{}: is a Git LFS pointer, not the file itself; run 'git "
         "lfs pull' in its repository or download the file",
         file.string());
  if (text.starts_with("<<<<<<<"))
    fail(ErrorCode::kInvalidData,
         "{}: is {} with unresolved merge conflicts ('<<<<<<<'); "
         "check one side out and run 'git lfs pull', or download the file",
         file.string(),
         text.find(kLfsPointer) != std::string::npos ? "a Git LFS pointer" : "a text file");
  if (text.starts_with("<!doctype") || text.starts_with("<html") || text.starts_with("<?xml"))
    fail(ErrorCode::kInvalidData,
         "{}: is a web page, not the file itself (often an error or "
         "a log-in page saved under this name); download it again",
         file.string());
}

}  // namespace sampan::base
