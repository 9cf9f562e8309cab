#include "translator/target_limits.h"

#include <algorithm>

#include "decode/target_guard.h"

namespace sampan::translator {

std::int64_t target_limit(const GenerationConfig& config, const TargetLimitInput& input) {
  const auto prefix = static_cast<std::int64_t>(input.prefix_tokens);
  // Counts of generated tokens leave out the start token and the prefix. Asking for more than the
  // model has positions is asking for all of them, and keeps the sums small.
  const auto total = [&](std::int64_t generated) {
    return 1 + prefix + std::min(generated, input.max_positions);
  };
  std::int64_t limit = config.max_new_tokens ? total(*config.max_new_tokens) : config.max_length;
  if (input.length_guard) {
    const auto source = static_cast<std::int64_t>(input.source_tokens);
    const std::int64_t guard = decode::guarded_max_length(source) + prefix;
    const std::int64_t least =
        config.min_new_tokens ? total(*config.min_new_tokens) : config.min_length;
    limit = std::min(limit, std::max(guard, std::min(least, input.max_positions) + 1));
  }
  return std::min(limit, input.max_positions);
}

}  // namespace sampan::translator
