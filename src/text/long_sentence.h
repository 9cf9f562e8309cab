#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "sampan/alignment.h"
#include "text/text_plan.h"

namespace sampan::text {

using TokenCounter = std::function<std::size_t(std::string_view)>;

/// Cuts a sentence of valid UTF-8 into segments of at most `max_tokens` as `count_tokens` counts
/// them: as many clauses as fit, an over-long clause at white space, an over-long run of a script
/// without spaces between its words. What is too long even then passes through. A sentence that
/// fits comes back whole. The ranges lie in `text`; `sentence` stays 0.
std::vector<Segment> cut_sentence(std::string_view text, ByteRange range, std::size_t max_tokens,
                                  const TokenCounter& count_tokens);

}  // namespace sampan::text
