#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "package/package.h"
#include "session/sequence_model.h"
#include "verify/parity_case.h"
#include "verify/reference_answers.h"
#include "verify/report.h"

namespace sampan::verify {

/// Largest absolute difference allowed of encoder states and of cached keys and values.
inline constexpr double kStateLimit = 1e-4;
/// Largest difference allowed of a logit, relative to the largest magnitude among the reference's
/// logits at the same position (1 where all of them are smaller).
inline constexpr double kLogitLimit = 1e-5;

struct GraphParityInput {
  const package::Package& package;
  std::span<const ParityCase> cases;
  std::span<const ReferenceAnswers> answers;  ///< of each case
  session::SessionOptions session;
  std::function<void(std::string_view)> progress;
  std::stop_token stop;
};

/// Runs every graph of a package on every case and compares what comes out with the reference: the
/// encoder's states; logits and caches of the first and of later steps of both decoder forms, fed
/// with their own caches; and the form with a past, given an empty one. A graph that cannot be
/// loaded or run is a failed check. Throws `Error` kCancelled.
std::vector<Check> check_graph_parity(const GraphParityInput& input);

}  // namespace sampan::verify
