#pragma once

#include <string>
#include <string_view>

namespace sampan::text {

/// What stands between two sentences of a language: nothing in Chinese and Japanese, one space
/// elsewhere. `language` as ISO 639 or BCP 47 writes it or as tokenizer_config.json does, in any
/// case: "zho", "cmn_Hans", "zh-CN", "ja".
std::string sentence_joiner(std::string_view language);

}  // namespace sampan::text
