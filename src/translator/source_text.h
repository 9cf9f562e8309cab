#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_plan.h"
#include "text/tokenizer.h"

namespace sampan::translator {

/// How the texts of one call are taken apart.
struct SourceOptions {
  std::string target_language;  ///< of all texts; empty: the tag at a text's start, or none
  bool split_sentences = true;
  std::size_t max_positions = 0;
};

/// A text as valid UTF-8, taken apart, with the source ids of each sentence for the model.
/// Not movable: the plan borrows the text.
class SourceText {
 public:
  SourceText(std::string_view bytes, const text::Tokenizer& tokenizer,
             const SourceOptions& options);
  SourceText(const SourceText&) = delete;
  SourceText& operator=(const SourceText&) = delete;

  const text::TextPlan& plan() const { return plan_; }
  /// Ids of each of `plan().sentences()`, at most max_positions each, end of sentence included.
  const std::vector<std::vector<std::int64_t>>& sentences() const { return sentences_; }
  /// A sentence had more tokens than the model has positions and lost the rest: only a text that
  /// was not to be split.
  bool cut() const { return cut_; }

 private:
  std::string text_;
  text::TextPlan plan_;
  std::vector<std::vector<std::int64_t>> sentences_;
  bool cut_ = false;
};

}  // namespace sampan::translator
