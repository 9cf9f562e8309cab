#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/step_model.h"
#include "package/package.h"

namespace sampan::session {

/// What transformers answered for one source of the fixture's checkpoint.
struct GoldenCase {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> tokens;        ///< greedy, behind the start token
  std::vector<std::vector<float>> logits;  ///< [step][vocabulary]
};

struct Golden {
  std::int64_t vocab_size = 0;
  std::int64_t pad_token_id = 0;  ///< also the token that starts a target
  std::int64_t max_positions = 0;
  std::vector<GoldenCase> cases;
};

/// tests/data/session/golden.json.
const Golden& golden();

/// The packages of tests/data/session: "merged" or "three_files".
package::Package fixture_package(const std::string& form);

/// All sources of the golden data, in order.
decode::SourceBatch golden_sources();

}  // namespace sampan::session
