#pragma once

#include <filesystem>
#include <string>

namespace sampan::text {

/// The tokenizer.json (HuggingFace `tokenizers`, version 1.0) of a Marian checkpoint or package
/// folder: source.spm's scores and character map over the vocabulary of vocab.json in its order.
/// Gives MarianTokenizer's ids for text whose characters source.spm knows; docs/tokenizer.md says
/// how other text differs. The same folder gives the same bytes.
/// Throws `Error`: kNotFound and kInvalidData as `open_tokenizer`; kUnsupported where no
/// tokenizer.json can say what the checkpoint does (two vocabularies, a source.spm that is not a
/// plain unigram model): such a folder does without one.
std::string make_tokenizer_json(const std::filesystem::path& folder);

}  // namespace sampan::text
