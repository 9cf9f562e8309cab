#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "package/package.h"
#include "reference/marian.h"
#include "sampan/generation.h"
#include "session/sequence_model.h"
#include "verify/limits.h"
#include "verify/report.h"

namespace sampan::verify {

/// Where two tokens are nearer to each other than this (`decode::Hypothesis::smallest_margin`),
/// float and double may choose differently: a line that does is a near-tie, and no fault.
inline constexpr double kNearTie = 1e-4;

struct TokenParityInput {
  const package::Package& package;
  const reference::Marian& reference;
  /// Token ids of each line, end of sentence included.
  std::span<const std::vector<std::int64_t>> lines;
  GenerationConfig defaults;            ///< the package's
  GenerationConfig reference_defaults;  ///< the checkpoint's
  Limits limits;
  int threads = 1;  ///< lines are translated side by side
  session::SessionOptions session;
  std::function<void(std::string_view)> progress;  ///< called by one thread at a time
  std::stop_token stop;
};

/// Translates every line greedily and with the package's beams (4 where it has one), once by its
/// graphs and once by the reference under the same search, and compares the tokens line by line.
/// Also counts padding in the package's output, and the lines in which it repeats a unit of tokens
/// where the source does not, which must not be more than the reference's. Graphs that fail are a
/// failed check. Throws `Error` kCancelled.
std::vector<Check> check_token_parity(const TokenParityInput& input);

}  // namespace sampan::verify
