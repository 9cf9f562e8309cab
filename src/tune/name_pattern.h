#pragma once

#include <memory>
#include <string>

namespace sampan::tune {

/// A POSIX extended regular expression that is looked for anywhere in a name; an empty one matches
/// nothing. Thread-safe.
class NamePattern {
 public:
  /// Throws `Error` kInvalidArgument for text that is no such expression; `option` names where it
  /// was given.
  NamePattern(const std::string& pattern, const std::string& option);
  ~NamePattern();
  NamePattern(const NamePattern&) = delete;
  NamePattern& operator=(const NamePattern&) = delete;

  bool matches(const std::string& name) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace sampan::tune
