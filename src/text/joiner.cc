#include "text/joiner.h"

#include <algorithm>
#include <array>

namespace sampan::text {

std::string sentence_joiner(std::string_view language) {
  // Chinese in its kinds, Japanese, and OPUS-MT's groups of them.
  static constexpr std::array<std::string_view, 20> kUnspaced = {
      "zh",  "zho", "chi", "cmn", "yue", "wuu", "hak", "nan", "lzh", "gan",
      "hsn", "cjy", "cdo", "cpx", "zt",  "zhx", "ja",  "jpn", "jap", "jpx"};
  std::string code(language.substr(0, language.find_first_of("_-")));
  std::transform(code.begin(), code.end(), code.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool unspaced = std::find(kUnspaced.begin(), kUnspaced.end(), code) != kUnspaced.end();
  return unspaced ? "" : " ";
}

}  // namespace sampan::text
