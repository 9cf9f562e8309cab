#include "verify/reference_answers.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sampan::verify {

std::vector<reference::Marian::Row> rows_of(reference::Marian::Target& target,
                                            const std::vector<std::int64_t>& tokens) {
  std::vector<reference::Marian::Row> rows;
  for (const std::int64_t token : tokens) rows.push_back({&target, token});
  return rows;
}

ReferenceAnswers answer(const reference::Marian& model, const ParityCase& parity_case) {
  ReferenceAnswers answers;
  for (std::size_t i = 0; i < parity_case.sources.size(); ++i) {
    ReferenceAnswers::Row row;
    row.states = model.encode(parity_case.sources[i]);
    row.targets.push_back(model.start(row.states));
    for (const auto& step : parity_case.steps) {
      reference::Marian::Target target = row.targets.back();
      row.logits.push_back(model.decode(rows_of(target, step[i])));
      row.targets.push_back(std::move(target));
    }
    answers.rows.push_back(std::move(row));
  }
  return answers;
}

}  // namespace sampan::verify
