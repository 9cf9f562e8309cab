#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::evaluate {

/// How BLEU cuts text into words; the rules of sacrebleu's tokenizers of the same names.
enum class BleuTokenizer {
  k13a,  ///< mteval-v13a of WMT: punctuation apart, for languages written with spaces
  kZh,   ///< each Chinese character a word, the rest as 13a
};

/// sacrebleu's name: "13a", "zh".
std::string_view tokenizer_name(BleuTokenizer tokenizer) noexcept;

/// The tokenizer for such text: kZh where more than half of what is not white space is Chinese.
BleuTokenizer tokenizer_for(std::span<const std::string> lines);

/// The words of a line. `line` is UTF-8; trailing white space does not count.
std::vector<std::u32string> tokenize(std::string_view line, BleuTokenizer tokenizer);

/// What Python's str.isspace and str.split take for white space.
bool is_white_space(char32_t character) noexcept;

}  // namespace sampan::evaluate
