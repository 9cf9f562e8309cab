#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "text/characters.h"
#include "text/text_plan.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::size_t count_bytes(std::string_view text) { return text.size() + 1; }

}  // namespace

// Any text comes apart into segments in order, with white space alone between them, none longer
// than the limit; and comes together again, each sentence where the plan says. The first byte
// chooses the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  sampan::base::replace_invalid_utf8(text);
  sampan::text::TextPlanOptions options;
  options.split_sentences = (data[0] & 1) == 0;
  options.source_language = (data[0] & 2) == 0 ? "eng" : "zho";
  options.target_language = (data[0] & 4) == 0 ? "deu" : "cmn_Hans";
  if (options.split_sentences) {
    options.max_tokens = std::size_t{data[0]} >> 3U;
    options.count_tokens = count_bytes;
  }

  const auto plan = sampan::text::plan_text(text, options);
  std::size_t end = 0;
  for (const auto& segment : plan.segments()) {
    require(segment.source.begin >= end && segment.source.end > segment.source.begin);
    require(segment.source.end <= text.size());
    const std::string_view gap(text.data() + end, segment.source.begin - end);
    require(sampan::text::trimmed(gap, {0, gap.size()}).begin == gap.size());
    end = segment.source.end;
  }
  std::vector<std::string> translations;
  for (const std::string_view sentence : plan.sentences()) {
    require(options.max_tokens == 0 || count_bytes(sentence) <= options.max_tokens);
    translations.emplace_back(sentence);
  }
  const auto assembled = plan.assemble(translations);
  std::size_t written = 0;
  for (const auto& sentence : assembled.sentences) {
    require(sentence.target.begin >= written && sentence.target.end <= assembled.text.size());
    written = sentence.target.end;
  }
  require(sampan::base::valid_utf8_length(assembled.text) == assembled.text.size());
  return 0;
}
