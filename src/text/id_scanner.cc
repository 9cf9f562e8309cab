#include "text/id_scanner.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/utf8.h"

namespace sampan::text {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view json) : rest_(json) {}

  bool take(char expected) {
    skip_space();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  // A string, whose text views into the JSON if it has no escapes, else into `unescaped_`.
  std::optional<std::string_view> take_string() {
    if (!take('"')) return std::nullopt;
    unescaped_.clear();
    bool escaped = false;
    while (true) {
      const std::size_t plain = plain_length();
      if (plain == rest_.size()) return std::nullopt;
      const std::string_view text = rest_.substr(0, plain);
      const char end = rest_[plain];
      if (escaped || end == '\\') unescaped_ += text;
      rest_.remove_prefix(plain + 1);
      if (end == '"') return escaped ? std::string_view(unescaped_) : text;
      if (end != '\\' || !take_escape()) return std::nullopt;
      escaped = true;
    }
  }

  std::optional<std::uint64_t> take_number() {
    constexpr std::size_t kMaxDigits = 18;
    skip_space();
    std::uint64_t value = 0;
    std::size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (digits == kMaxDigits || (digits == 1 && value == 0)) return std::nullopt;
      value = 10 * value + static_cast<std::uint64_t>(rest_[digits++] - '0');
    }
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

 private:
  void skip_space() {
    std::size_t count = 0;
    while (count < rest_.size() && (rest_[count] == ' ' || rest_[count] == '\n' ||
                                    rest_[count] == '\r' || rest_[count] == '\t'))
      ++count;
    rest_.remove_prefix(count);
  }

  // Bytes up to a quotation mark, a backslash or a control character.
  std::size_t plain_length() const {
    std::size_t length = 0;
    while (length < rest_.size() && rest_[length] != '"' && rest_[length] != '\\' &&
           static_cast<unsigned char>(rest_[length]) >= 0x20)
      ++length;
    return length;
  }

  bool take_escape() {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char name = rest_[0];
    rest_.remove_prefix(1);
    if (name == 'u') return take_code_point();
    const std::size_t index = kNames.find(name);
    if (index == std::string_view::npos) return false;
    unescaped_ += kMeanings[index];
    return true;
  }

  bool take_code_point() {
    std::uint32_t code = 0;
    if (!take_hexadecimal(code)) return false;
    if (code >= 0xD800 && code <= 0xDFFF) {  // a pair of surrogates
      std::uint32_t low = 0;
      if (code >= 0xDC00 || !rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(2);
      if (!take_hexadecimal(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
    append_utf8(code);
    return true;
  }

  bool take_hexadecimal(std::uint32_t& code) {
    constexpr std::size_t kDigits = 4;
    if (rest_.size() < kDigits) return false;
    const char* end = rest_.data() + kDigits;
    if (std::from_chars(rest_.data(), end, code, 16).ptr != end) return false;
    rest_.remove_prefix(kDigits);
    return true;
  }

  void append_utf8(std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { unescaped_ += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code >= 0x10000) {
      put(0xF0 | code >> 18U);
      put(0x80 | (code >> 12U & 0x3F));
    } else if (code >= 0x800) {
      put(0xE0 | code >> 12U);
    }
    put(code < 0x800 ? 0xC0 | code >> 6U : 0x80 | (code >> 6U & 0x3F));
    put(0x80 | (code & 0x3F));
  }

  std::string_view rest_;
  std::string unescaped_;
};

}  // namespace

bool scan_ids(std::string_view json,
              const std::function<bool(std::string_view, std::uint64_t)>& take) {
  if (base::valid_utf8_length(json) != json.size()) return false;
  Scanner scanner(json);
  if (!scanner.take('{')) return false;
  if (scanner.take('}')) return scanner.at_end();
  do {
    const std::optional<std::string_view> name = scanner.take_string();
    if (!name || !scanner.take(':')) return false;
    const std::optional<std::uint64_t> number = scanner.take_number();
    if (!number || !take(*name, *number)) return false;
  } while (scanner.take(','));
  return scanner.take('}') && scanner.at_end();
}

}  // namespace sampan::text
