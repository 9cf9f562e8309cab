#include "translator/source_text.h"

#include "base/utf8.h"

namespace sampan::translator {
namespace {

std::string repaired(std::string_view bytes) {
  std::string text(bytes);
  base::replace_invalid_utf8(text);
  return text;
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
    std::vector<std::int64_t> ids = tokenizer.encode(sentence, tag.code);
    if (ids.size() > options.max_positions) {
      ids[options.max_positions - 1] = ids.back();  // the end of sentence stays
      ids.resize(options.max_positions);
      cut_ = true;
    }
    sentences_.push_back(std::move(ids));
  }
}

}  // namespace sampan::translator
