#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::text {

/// What tokenizer_config.json, special_tokens_map.json and added_tokens.json of a checkpoint say
/// about a tokenizer, with transformers' defaults for what they leave open.
struct TokenizerConfig {
  /// A token that the files give an id of its own.
  struct AddedToken {
    std::string content;
    std::int64_t id = 0;
    std::string file;  ///< that says so, for errors
  };

  std::string source_language;  ///< source_lang or src_lang: "eng", "en"; may be empty
  std::string target_language;
  std::string end_token = "</s>";
  std::string unknown_token = "<unk>";
  std::string pad_token = "<pad>";
  std::set<std::string> special_tokens;  ///< the three above and all others that are left out
  std::vector<AddedToken> added_tokens;
  bool separate_vocabs = false;
  std::string language_codes;  ///< which list of languages M2M100 was trained on; may be empty
  /// Take the space before punctuation and English contractions out of decoded text.
  bool clean_up_spaces = false;
};

/// Reads the files of `folder`; all may be missing. `tokenizer_class` is the one class of
/// transformers that the caller stands for ("MarianTokenizer"). Throws `Error`: kInvalidData, kUnsupported (a
/// tokenizer of another class, sampling, added tokens that split the text).
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder,
                                      std::string_view tokenizer_class);

}  // namespace sampan::text
