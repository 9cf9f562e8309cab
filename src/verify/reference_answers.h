#pragma once

#include <vector>

#include "reference/marian.h"
#include "verify/parity_case.h"

namespace sampan::verify {

/// The reference's answers to one case, row by row.
struct ReferenceAnswers {
  struct Row {
    reference::Matrix states;
    /// Before the prompt, behind it, and behind each later step.
    std::vector<reference::Marian::Target> targets;
    /// Of the tokens fed with the prompt and with each later step.
    std::vector<reference::Matrix> logits;
  };
  std::vector<Row> rows;
};

/// Throws what the reference throws.
ReferenceAnswers answer(const reference::Marian& model, const ParityCase& parity_case);

/// The reference's rows for tokens that are fed to one target.
std::vector<reference::Marian::Row> rows_of(reference::Marian::Target& target,
                                            const std::vector<std::int64_t>& tokens);

}  // namespace sampan::verify
