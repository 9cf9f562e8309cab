#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "package/package.h"
#include "reference/marian.h"
#include "session/sequence_model.h"
#include "verify/limits.h"
#include "verify/parity_case.h"
#include "verify/reference_answers.h"
#include "verify/report.h"

namespace sampan::verify {

struct LocalisationInput {
  const package::Package& package;
  const reference::Marian& reference;
  std::span<const ParityCase> cases;
  std::span<const ReferenceAnswers> answers;  ///< of each case
  Limits limits;
  session::SessionOptions session;
  /// Whether something is wrong: every graph is then searched in every case until one shows a
  /// place. Otherwise the first case serves to tell how much each part loses.
  bool search = false;
  /// Names of graphs as in `Place` to look into; empty: all.
  std::vector<std::string> only;
  std::function<void(std::string_view)> progress;
  std::stop_token stop;
};

struct Localisation {
  std::vector<Place> places;
  std::vector<InnerValue> inner_values;
  std::vector<Check> not_checked;  ///< graphs that could not be looked into
};

/// Looks at the inner values of each graph of a package, fed with what the reference would feed it,
/// so that no graph is blamed for another. Throws `Error` kCancelled.
Localisation localise(const LocalisationInput& input);

/// The largest difference that a part of a graph makes by itself: also one that nothing shows in
/// the end, as a missing bias of keys does not change what is attended to. Ranks the parts that
/// lose most.
Check check_inner_values(const Localisation& found, double limit);

}  // namespace sampan::verify
