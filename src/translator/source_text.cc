#include "translator/source_text.h"

#include "base/utf8.h"

namespace sampan::translator {
namespace {

// No sentence of so many bytes for each position fits a model: vocabularies hold few pieces of a
// tenth of that. Tokenizing more to find out would take minutes and gigabytes for a hostile line.
constexpr std::size_t kMostBytesPerPosition = 256;

std::string repaired(std::string_view bytes) {
  std::string text(bytes);
  base::replace_invalid_utf8(text);
  return text;
}

// As much of a sentence as a model of so many positions may read.
std::string_view readable_part(std::string_view sentence, std::size_t max_positions) {
  std::size_t end = kMostBytesPerPosition * max_positions;
  if (sentence.size() <= end) return sentence;
  while (end > 0 && (static_cast<unsigned char>(sentence[end]) & 0xC0U) == 0x80U) --end;
  return sentence.substr(0, end);
}

// The language that stands in brackets at the start of a text, unless the call names one.
text::LanguageTag language_of(std::string_view text, const text::Tokenizer& tokenizer,
                              const SourceOptions& options) {
  if (!options.target_language.empty()) return {options.target_language, 0};
  return tokenizer.language_tag(text).value_or(text::LanguageTag{});
}

text::TextPlan plan_of(std::string_view text, const text::LanguageTag& tag,
                       const text::Tokenizer& tokenizer, const SourceOptions& options) {
  text::TextPlanOptions plan;
  plan.split_sentences = options.split_sentences;
  plan.skip = tag.length;
  plan.source_language = tokenizer.source_language();
  plan.target_language = tag.code.empty() ? tokenizer.target_language() : tag.code;
  if (options.split_sentences) {
    plan.max_tokens = options.max_positions;
    plan.count_tokens = [&](std::string_view sentence) {
      const std::string_view part = readable_part(sentence, options.max_positions);
      if (part.size() < sentence.size()) return options.max_positions + 1;
      return tokenizer.encode(sentence, tag.code).size();
    };
  }
  return text::plan_text(text, plan);
}

}  // namespace

SourceText::SourceText(std::string_view bytes, const text::Tokenizer& tokenizer,
                       const SourceOptions& options)
    : text_(repaired(bytes)),
      plan_(plan_of(text_, language_of(text_, tokenizer, options), tokenizer, options)) {
  const text::LanguageTag tag = language_of(text_, tokenizer, options);
  for (const std::string_view sentence : plan_.sentences()) {
    const std::string_view part = readable_part(sentence, options.max_positions);
    std::vector<std::int64_t> ids = tokenizer.encode(part, tag.code);
    cut_ |= part.size() < sentence.size();
    if (ids.size() > options.max_positions) {
      ids[options.max_positions - 1] = ids.back();  // the end of sentence stays
      ids.resize(options.max_positions);
      cut_ = true;
    }
    sentences_.push_back(std::move(ids));
  }
}

}  // namespace sampan::translator
