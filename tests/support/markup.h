#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::test {

/// What is wrong with XML, or with HTML that is written as strictly: elements that do not nest,
/// unquoted attributes, bare & and < in texts. Empty if nothing is. HTML's <meta> and <!doctype>
/// may stand open; the content of <style> is not looked at.
inline std::string markup_fault(std::string_view text) {
  constexpr std::string_view kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::vector<std::string> open;
  std::size_t at = 0;
  const auto fault = [&](std::string_view what) {
    return std::string(what) + " at: " + std::string(text.substr(at, 60));
  };
  const auto name_at = [&](std::size_t place) {
    const std::size_t first = place;
    while (place < text.size() && (std::isalnum(static_cast<unsigned char>(text[place])) != 0))
      ++place;
    return std::string(text.substr(first, place - first));
  };
  while (at < text.size()) {
    if (text[at] == '&') {
      bool known = false;
      for (const auto entity : kEntities) known = known || text.substr(at).starts_with(entity);
      if (!known) return fault("a bare &");
    }
    if (text[at] != '<') {
      ++at;
      continue;
    }
    if (text.substr(at).starts_with("</")) {
      const std::string name = name_at(at + 2);
      if (open.empty() || open.back() != name || text[at + 2 + name.size()] != '>')
        return fault("an end tag that closes nothing");
      open.pop_back();
      at += name.size() + 3;
      continue;
    }
    std::size_t end = at + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return fault("a < inside a tag");
      if (!quoted && text[end] == '=' && text[end + 1] != '"') return fault("an unquoted value");
    }
    if (end >= text.size()) return fault("a tag that does not end");
    const std::string name = name_at(at + 1);
    const bool alone = text[end - 1] == '/' || name == "meta" || text[at + 1] == '!';
    if (name.empty() && text[at + 1] != '!') return fault("a bare <");
    if (name == "style") {
      end = text.find("</style>", end);
      if (end == std::string_view::npos) return fault("an open style");
      end += 7;
    } else if (!alone) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "open element " + open.back();
}

}  // namespace sampan::test
