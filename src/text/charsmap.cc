#include "text/charsmap.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace sampan::text {
namespace {

// Real maps expand a character to 33 bytes at most.
constexpr std::size_t kMaxReplacementBytes = 1024;

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[offset + i])) << (8 * i);
  return word;
}

// A unit of a darts-clone double array: where its children lie (their index is base ^ byte), and
// whether the key that ends here has a value, which then lies at the base itself.
class Unit {
 public:
  explicit Unit(std::uint32_t word) : word_(word) {}
  bool is_value() const { return word_ >> 31 != 0; }
  std::uint32_t value() const { return word_ & 0x7FFFFFFFU; }
  bool ends_key() const { return (word_ >> 8 & 1U) != 0; }
  std::size_t offset() const { return std::size_t{word_ >> 10} << ((word_ & 0x200U) >> 6); }

 private:
  std::uint32_t word_;
};

std::string trie_problem(std::string_view trie, std::size_t replacements) {
  const std::size_t units = trie.size() / 4;
  for (std::size_t i = 0; i < units; ++i) {
    const Unit unit(word_at(trie, 4 * i));
    if (unit.is_value() && i != 0) continue;  // no byte leads here
    const std::size_t base = i ^ unit.offset();
    if ((base | 0xFFU) >= units) return fmt::format("has a trie that leaves its table at {}", i);
    if (unit.ends_key() && Unit(word_at(trie, 4 * base)).value() >= replacements)
      return fmt::format("has a rule at {} whose replacement lies outside", i);
  }
  return {};
}

std::string replacements_problem(std::string_view replacements) {
  if (replacements.empty() || replacements.back() != '\0') return "has replacements without end";
  std::size_t length = 0;
  for (const char c : replacements) {
    length = c == '\0' ? 0 : length + 1;
    if (length > kMaxReplacementBytes)
      return fmt::format("has a replacement of more than {} bytes", kMaxReplacementBytes);
  }
  return {};
}

}  // namespace

std::string charsmap_problem(std::string_view charsmap) {
  if (charsmap.empty()) return {};
  if (charsmap.size() < 4) return "is truncated";
  const std::size_t trie_size = word_at(charsmap, 0);
  charsmap.remove_prefix(4);
  if (trie_size == 0 || trie_size % 4 != 0 || trie_size > charsmap.size())
    return fmt::format("has a trie of {} bytes where {} are left", trie_size, charsmap.size());
  const std::string_view replacements = charsmap.substr(trie_size);
  if (std::string problem = replacements_problem(replacements); !problem.empty()) return problem;
  return trie_problem(charsmap.substr(0, trie_size), replacements.size());
}

}  // namespace sampan::text
