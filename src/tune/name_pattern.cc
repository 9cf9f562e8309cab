#include "tune/name_pattern.h"

#include <regex.h>

#include <array>

#include "base/fail.h"

namespace sampan::tune {

// The C library's, because libstdc++'s recurses once a character.
struct NamePattern::Compiled {
  explicit Compiled(const std::string& pattern, const std::string& option) {
    const int error = ::regcomp(&expression, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) return;
    std::array<char, 128> message{};
    ::regerror(error, &expression, message.data(), message.size());
    base::fail(ErrorCode::kInvalidArgument,
               "{}: '{}' is not a POSIX extended regular expression ({}); correct it", option,
               pattern, message.data());
  }
  ~Compiled() { ::regfree(&expression); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  regex_t expression{};
};

NamePattern::NamePattern(const std::string& pattern, const std::string& option) {
  if (!pattern.empty()) compiled_ = std::make_unique<const Compiled>(pattern, option);
}

NamePattern::~NamePattern() = default;

bool NamePattern::matches(const std::string& name) const {
  return compiled_ != nullptr &&
         ::regexec(&compiled_->expression, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace sampan::tune
