#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "decode/step_model.h"
#include "text/tokenizer.h"

namespace sampan::tune {

struct CalibrationTextOptions {
  /// A text file of one sentence a line, or a NumPy file (".npz") of `input_ids` and
  /// `attention_mask` [sentence, position].
  std::filesystem::path file;
  std::size_t most_sentences = 0;  ///< taken from the front; 0: all
  std::int64_t max_positions = 0;  ///< longer sentences are left out; 0: any length
  std::string target_language{};   ///< of multilingual models; goes with text files
};

/// Source sentences to measure activations on, as token ids without padding. Empty lines are left
/// out. Throws `Error`: kNotFound; kInvalidData (a file without sentences, arrays of other shapes
/// or types, ids that are negative); kInvalidArgument (a language the tokenizer does not know).
decode::SourceBatch read_calibration_text(const CalibrationTextOptions& options,
                                          const text::Tokenizer& tokenizer);

}  // namespace sampan::tune
