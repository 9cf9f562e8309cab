#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "package/package.h"
#include "session/sequence_model.h"
#include "verify/limits.h"
#include "verify/parity_case.h"
#include "verify/reference_answers.h"
#include "verify/report.h"

namespace sampan::verify {

struct GraphParityInput {
  const package::Package& package;
  std::span<const ParityCase> cases;
  std::span<const ReferenceAnswers> answers;  ///< of each case
  Limits limits;
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
