#include "text/text_plan.h"

#include <algorithm>

#include "base/fail.h"
#include "text/characters.h"
#include "text/joiner.h"
#include "text/long_sentence.h"
#include "text/sentence_splitter.h"

namespace sampan::text {
namespace {

Segment::Kind kind_of(std::string_view text) {
  return has_letter(text) ? Segment::Kind::kTranslate : Segment::Kind::kPassThrough;
}

// Lines without the white space around them, blank ones left out.
std::vector<ByteRange> lines_of(std::string_view text, std::size_t begin) {
  std::vector<ByteRange> lines;
  const auto add = [&](std::size_t end) {
    const ByteRange line = trimmed(text, {begin, end});
    if (line.begin != line.end) lines.push_back(line);
  };
  for (std::size_t at = begin; at < text.size();) {
    const Character character = first_character(text.substr(at));
    if (is_line_break(character.code)) {
      add(at);
      begin = at + character.length;
    }
    at += character.length;
  }
  add(text.size());
  return lines;
}

class Planner {
 public:
  Planner(std::string_view text, const TextPlanOptions& options) : text_(text), options_(options) {}

  void add_line(ByteRange line) {
    const std::string_view content = part_of(text_, line);
    if (!has_letter(content)) {
      add({.source = line, .kind = Segment::Kind::kPassThrough});
      return;
    }
    for (const ByteRange& range : split_sentences(content, options_.source_language))
      add_sentence({line.begin + range.begin, line.begin + range.end});
  }

  std::vector<Segment> segments;

 private:
  void add_sentence(ByteRange range) {
    if (options_.max_tokens == 0 || !has_letter(part_of(text_, range))) {
      add({.source = range, .kind = kind_of(part_of(text_, range))});
      return;
    }
    for (Segment& part : cut_sentence(text_, range, options_.max_tokens, options_.count_tokens)) {
      part.sentence = sentences_;
      segments.push_back(part);
    }
    ++sentences_;
  }

  void add(Segment segment) {
    segment.sentence = sentences_++;
    segments.push_back(segment);
  }

  std::string_view text_;
  const TextPlanOptions& options_;
  std::size_t sentences_ = 0;
};

bool has_line_break(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (is_line_break(character.code)) return true;
    text.remove_prefix(character.length);
  }
  return false;
}

}  // namespace

std::vector<std::string_view> TextPlan::sentences() const {
  std::vector<std::string_view> sentences;
  for (const Segment& segment : segments_)
    if (segment.kind == Segment::Kind::kTranslate)
      sentences.push_back(part_of(text_, segment.source));
  return sentences;
}

AssembledText TextPlan::assemble(std::span<const std::string> translations) const {
  const auto to_translate = std::count_if(
      segments_.begin(), segments_.end(),
      [](const Segment& segment) { return segment.kind == Segment::Kind::kTranslate; });
  if (static_cast<std::size_t>(to_translate) != translations.size())
    base::fail(ErrorCode::kInternal, "{} translations for {} sentences; report it",
               translations.size(), to_translate);
  AssembledText assembled;
  std::string& text = assembled.text;
  std::size_t written = skip_;
  std::size_t next = 0;
  const Segment* previous = nullptr;
  for (const Segment& segment : segments_) {
    const std::string_view gap = part_of(text_, {written, segment.source.begin});
    const bool both_pass = previous != nullptr && previous->kind == Segment::Kind::kPassThrough &&
                           segment.kind == Segment::Kind::kPassThrough;
    text += previous == nullptr || both_pass || has_line_break(gap) ? gap : joiner_;
    const std::size_t begin = text.size();
    if (segment.kind == Segment::Kind::kTranslate) text += translations[next++];
    if (text.size() == begin) text += part_of(text_, segment.source);
    if (previous != nullptr && previous->sentence == segment.sentence) {
      assembled.sentences.back().source.end = segment.source.end;
      assembled.sentences.back().target.end = text.size();
    } else {
      assembled.sentences.push_back({.source = segment.source, .target = {begin, text.size()}});
    }
    written = segment.source.end;
    previous = &segment;
  }
  text += text_.substr(written);
  return assembled;
}

TextPlan plan_text(std::string_view text, const TextPlanOptions& options) {
  std::string joiner = sentence_joiner(options.target_language);
  ByteRange all{std::min(options.skip, text.size()), text.size()};
  if (options.skip != 0) all.begin = trimmed(text, all).begin;
  Planner planner(text, options);
  if (options.split_sentences) {
    for (const ByteRange& line : lines_of(text, all.begin)) planner.add_line(line);
  } else if (all.begin != all.end) {
    planner.segments.push_back({.source = all, .kind = kind_of(part_of(text, all))});
  }
  return TextPlan(text, all.begin, std::move(joiner), std::move(planner.segments));
}

}  // namespace sampan::text
