#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sampan/alignment.h"

namespace sampan::text {

/// How a text is prepared for a model.
struct TextPlanOptions {
  /// Split into lines and sentences, keeping line breaks and the white space at both ends of each
  /// line. Off: the whole text is one segment, whose translation is the answer as it is.
  bool split_sentences = true;
  /// Bytes at the start of the text that are neither translated nor returned (a language tag), nor
  /// is white space after them.
  std::size_t skip = 0;
  /// Languages as ISO 639 or BCP 47 codes, or as tokenizer_config.json names them ("eng",
  /// "cmn_Hans", "zh-CN"); empty: unknown. The target's decides how sentences are joined.
  std::string source_language;
  std::string target_language;
  /// Most tokens of one segment, special tokens included, as `count_tokens` counts them; 0: no
  /// limit. Longer sentences are cut at clauses, then at words. Needs `split_sentences`.
  std::size_t max_tokens = 0;
  std::function<std::size_t(std::string_view)> count_tokens;
};

/// A stretch of the text that the model gets in one piece, or that comes back as it is.
struct Segment {
  enum class Kind { kTranslate, kPassThrough };

  ByteRange source;
  Kind kind = Kind::kTranslate;
  /// Number of the sentence in the text; segments of one over-long sentence share it.
  std::size_t sentence = 0;
};

/// A text put together from its translated segments.
struct AssembledText {
  std::string text;
  /// Source and target range of every sentence, in order, those passed through included.
  std::vector<SentenceAlignment> sentences;
};

/// A text taken apart for translation, and the way back. Borrows the text, which must outlive it.
/// Thread-safe once made.
///
///   TextPlan plan = plan_text(text, options);
///   for (std::string_view sentence : plan.sentences()) translations.push_back(...);
///   AssembledText answer = plan.assemble(translations);
class TextPlan {
 public:
  /// Use `plan_text`. `skip`: bytes at the start of `text` that belong to nothing.
  TextPlan(std::string_view text, std::size_t skip, std::string joiner,
           std::vector<Segment> segments)
      : text_(text), skip_(skip), joiner_(std::move(joiner)), segments_(std::move(segments)) {}

  /// All segments, in order. What lies between them is white space.
  std::span<const Segment> segments() const { return segments_; }
  /// Texts of the segments to translate, in order; none where the whole text bypasses the model.
  std::vector<std::string_view> sentences() const;
  /// Puts the translations of `sentences()` together: line breaks and white space at the ends of
  /// lines are the source's, sentences are joined as the target language is written, and white
  /// space between two segments that pass through stays. A sentence whose translation is empty
  /// passes through. Throws `Error` kInternal if the counts differ.
  AssembledText assemble(std::span<const std::string> translations) const;

 private:
  std::string_view text_;
  std::size_t skip_;
  std::string joiner_;
  std::vector<Segment> segments_;
};

/// Takes `text` (valid UTF-8) apart. White space, digits, punctuation, symbols and emoji alone pass
/// through, and so does a single run of letters that no cut makes short enough.
TextPlan plan_text(std::string_view text, const TextPlanOptions& options);

}  // namespace sampan::text
